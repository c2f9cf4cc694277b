//! Descriptions of devices.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::time::Time;

use super::DeviceCapacity;
use super::DeviceCounterConsumption;
use crate::core::v1::NodeSelector;

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Device {
    /// Name of the device in its pool.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Description of the device.
    #[field(proto = 2)]
    pub basic: Option<BasicDevice>,
}

/// Description of a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct BasicDevice {
    /// Attributes of the device by name.
    #[field(proto = 1, go_type = "map[v1beta1.QualifiedName]DeviceAttribute")]
    pub attributes: BTreeMap<String, DeviceAttribute>,
    /// Capacities of the device by name.
    #[field(proto = 2, go_type = "map[v1beta1.QualifiedName]DeviceCapacity")]
    pub capacity: BTreeMap<String, DeviceCapacity>,
    /// Consumption of shared counters by the device.
    #[field(proto = 3, list_type = atomic)]
    pub consumes_counters: Vec<DeviceCounterConsumption>,
    /// The node of the device, when slices do not say it for all.
    #[field(proto = 4)]
    pub node_name: Option<String>,
    /// Nodes that can reach the device, when slices do not say it for all.
    #[field(proto = 5)]
    pub node_selector: Option<NodeSelector>,
    /// True if all nodes can access the device. Only in slices with per-device node selection.
    #[field(proto = 6)]
    pub all_nodes: Option<bool>,
    /// Marks that keep claims away which do not tolerate them; at most 16.
    #[field(proto = 7, list_type = atomic)]
    pub taints: Vec<DeviceTaint>,
    /// True if the allocation of the device binds the claim to the node of the pod.
    #[field(proto = 8)]
    pub binds_to_node: Option<bool>,
    /// Conditions that must be true before a pod is bound to a node for the device.
    #[field(proto = 9, list_type = atomic)]
    pub binding_conditions: Vec<String>,
    /// Conditions that mean that the device cannot be made ready.
    #[field(proto = 10, list_type = atomic)]
    pub binding_failure_conditions: Vec<String>,
    /// True if several claims can share the device.
    #[field(proto = 11)]
    pub allow_multiple_allocations: Option<bool>,
    /// Node resources that the device consumes, by resource name. Belongs to an alpha feature that is disabled here:
    /// values are dropped.
    #[field(proto = 12, go_type = "map[v1.ResourceName]NodeAllocatableResourceMapping")]
    pub node_allocatable_resource_mappings: BTreeMap<String, NodeAllocatableResourceMapping>,
}

/// A value that tells what a device is. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceAttribute {
    /// A number.
    #[field(proto = 2)]
    pub int: Option<i64>,
    /// A truth value.
    #[field(proto = 3)]
    pub bool: Option<bool>,
    /// A text of at most 64 bytes.
    #[field(proto = 4)]
    pub string: Option<String>,
    /// A version as of semver.org 2.0.0, at most 64 bytes.
    #[field(proto = 5)]
    pub version: Option<String>,
    /// Several numbers. An alpha feature that is switched off: dropped.
    #[field(proto = 6, list_type = atomic)]
    pub ints: Vec<i64>,
    /// Several truth values. An alpha feature that is switched off: dropped.
    #[field(proto = 7, list_type = atomic)]
    pub bools: Vec<bool>,
    /// Several texts. An alpha feature that is switched off: dropped.
    #[field(proto = 8, list_type = atomic)]
    pub strings: Vec<String>,
    /// Several versions. An alpha feature that is switched off: dropped.
    #[field(proto = 9, list_type = atomic)]
    pub versions: Vec<String>,
}

/// A mark of a device that keeps claims away.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceTaint {
    /// Key of the mark.
    #[field(proto = 1, keep)]
    pub key: String,
    /// Value of the mark.
    #[field(proto = 2)]
    pub value: String,
    /// NoSchedule keeps new claims away, NoExecute also evicts pods that use the device, None does nothing.
    #[field(
        proto = 3,
        keep,
        known("None", "NoSchedule", "NoExecute"),
        go_type = "DeviceTaintEffect"
    )]
    pub effect: String,
    /// Time when the taint was added, set by the server.
    #[field(proto = 4)]
    pub time_added: Option<Time>,
}

/// Amount of a node resource that a device consumes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeAllocatableResourceMapping {
    /// The capacity of the device that tells how much.
    #[field(proto = 1, go_type = "QualifiedName")]
    pub capacity_key: Option<String>,
    /// Consumed amount per unit of the capacity, or per device.
    #[field(proto = 2)]
    pub allocation_multiplier: Option<Quantity>,
}
