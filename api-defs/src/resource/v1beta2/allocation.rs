//! Devices that were found.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::time::Time;

use super::DeviceConfiguration;
use super::DeviceToleration;
use crate::core::v1::NodeSelector;

/// The devices that were found for a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AllocationResult {
    /// The devices.
    #[field(proto = 1)]
    pub devices: DeviceAllocationResult,
    /// Nodes from which the devices can be reached; all when absent.
    #[field(proto = 3)]
    pub node_selector: Option<NodeSelector>,
    /// Time of the allocation.
    #[field(proto = 5)]
    pub allocation_timestamp: Option<Time>,
}

/// The devices that were found.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceAllocationResult {
    /// One entry per device.
    #[field(proto = 1, list_type = atomic)]
    pub results: Vec<DeviceRequestAllocationResult>,
    /// Settings for the drivers, of the classes and of the claim.
    #[field(proto = 2, list_type = atomic)]
    pub config: Vec<DeviceAllocationConfiguration>,
}

/// Settings for devices that were found.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceAllocationConfiguration {
    /// Source of the configuration: FromClass or FromClaim.
    #[field(proto = 1, keep, known("FromClass", "FromClaim"), go_type = "AllocationConfigSource")]
    pub source: String,
    /// The requests whose devices are meant; all when empty.
    #[field(proto = 2, list_type = atomic)]
    pub requests: Vec<String>,
    /// The settings.
    #[field(inline, proto = 3)]
    pub device_configuration: DeviceConfiguration,
}

/// A device that was found for a request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceRequestAllocationResult {
    /// The request, or request/subrequest.
    #[field(proto = 1, keep)]
    pub request: String,
    /// The driver of the device.
    #[field(proto = 2, keep)]
    pub driver: String,
    /// The pool of the device.
    #[field(proto = 3, keep)]
    pub pool: String,
    /// Name of the device in its pool.
    #[field(proto = 4, keep)]
    pub device: String,
    /// True if the devices are accessed for administration, even while others use them. Only in namespaces with the
    /// label resource.kubernetes.io/admin-access.
    #[field(proto = 5)]
    pub admin_access: Option<bool>,
    /// Taints of devices that do not matter here.
    #[field(proto = 6, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Conditions that must be true before a pod is bound to a node for the device.
    #[field(proto = 7, list_type = atomic)]
    pub binding_conditions: Vec<String>,
    /// Conditions that mean that the device cannot be made ready.
    #[field(proto = 8, list_type = atomic)]
    pub binding_failure_conditions: Vec<String>,
    /// Tells apart several shares of one device.
    #[field(name = "shareID", proto = 9, go_type = "types.UID")]
    pub share_id: Option<String>,
    /// Capacities of the device that the claim consumes.
    #[field(proto = 10, go_type = "map[v1beta2.QualifiedName]resource.Quantity")]
    pub consumed_capacity: BTreeMap<String, Quantity>,
}
