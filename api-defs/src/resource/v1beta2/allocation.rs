//! Allocation of devices.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::time::Time;

use super::DeviceConfiguration;
use super::DeviceToleration;
use crate::core::v1::NodeSelector;

/// The devices that are allocated to a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AllocationResult {
    /// Allocated devices and their configuration.
    #[field(proto = 1)]
    pub devices: DeviceAllocationResult,
    /// Nodes that can access the devices. All nodes when absent.
    #[field(proto = 3)]
    pub node_selector: Option<NodeSelector>,
    /// Time of the allocation.
    #[field(proto = 5)]
    pub allocation_timestamp: Option<Time>,
}

/// Allocated devices and their configuration.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceAllocationResult {
    /// Allocated devices, one entry for each.
    #[field(proto = 1, list_type = atomic)]
    pub results: Vec<DeviceRequestAllocationResult>,
    /// Configuration for the drivers, from the classes and the claim.
    #[field(proto = 2, list_type = atomic)]
    pub config: Vec<DeviceAllocationConfiguration>,
}

/// Configuration for allocated devices.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceAllocationConfiguration {
    /// Source of the configuration: FromClass or FromClaim.
    #[field(proto = 1, keep, known("FromClass", "FromClaim"), go_type = "AllocationConfigSource")]
    pub source: String,
    /// Requests that the configuration applies to. All requests when empty.
    #[field(proto = 2, list_type = atomic)]
    pub requests: Vec<String>,
    /// The configuration.
    #[field(inline, proto = 3)]
    pub device_configuration: DeviceConfiguration,
}

/// A device that is allocated to a request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceRequestAllocationResult {
    /// Name of the request, or request/subrequest.
    #[field(proto = 1, keep)]
    pub request: String,
    /// Driver of the device.
    #[field(proto = 2, keep)]
    pub driver: String,
    /// Pool of the device.
    #[field(proto = 3, keep)]
    pub pool: String,
    /// Name of the device in its pool.
    #[field(proto = 4, keep)]
    pub device: String,
    /// True if the devices are accessed for administration, even while others use them. Only in namespaces with the
    /// label resource.kubernetes.io/admin-access.
    #[field(proto = 5)]
    pub admin_access: Option<bool>,
    /// Device taints that the request tolerates.
    #[field(proto = 6, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Types of conditions that must be True before a pod is bound to a node.
    #[field(proto = 7, list_type = atomic)]
    pub binding_conditions: Vec<String>,
    /// Types of conditions that are True if the preparation of the device failed.
    #[field(proto = 8, list_type = atomic)]
    pub binding_failure_conditions: Vec<String>,
    /// ID that distinguishes several shares of one device.
    #[field(name = "shareID", proto = 9, go_type = "types.UID")]
    pub share_id: Option<String>,
    /// Capacities of the device that the claim consumes.
    #[field(proto = 10, go_type = "map[v1beta2.QualifiedName]resource.Quantity")]
    pub consumed_capacity: BTreeMap<String, Quantity>,
}
