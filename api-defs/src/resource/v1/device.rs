//! Descriptions of devices.

mod check;

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::time::Time;

use super::DeviceCapacity;
use super::DeviceCounterConsumption;
use crate::core::v1::NodeSelector;

pub(crate) use check::check_mark;

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Device {
    /// Name of the device in its pool.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Attributes of the device by name.
    #[field(proto = 2, go_type = "map[v1.QualifiedName]DeviceAttribute")]
    pub attributes: BTreeMap<String, DeviceAttribute>,
    /// Capacities of the device by name.
    #[field(proto = 3, go_type = "map[v1.QualifiedName]DeviceCapacity")]
    pub capacity: BTreeMap<String, DeviceCapacity>,
    /// Consumption of shared counters by the device.
    #[field(proto = 4, list_type = atomic)]
    pub consumes_counters: Vec<DeviceCounterConsumption>,
    /// Name of the device's node. Only in slices with per-device node selection.
    #[field(proto = 5)]
    pub node_name: Option<String>,
    /// Nodes that can access the device. Only in slices with per-device node selection.
    #[field(proto = 6)]
    pub node_selector: Option<NodeSelector>,
    /// True if all nodes can access the device. Only in slices with per-device node selection.
    #[field(proto = 7)]
    pub all_nodes: Option<bool>,
    /// Taints, which repel claims that do not tolerate them; at most 16.
    #[field(proto = 8, list_type = atomic)]
    pub taints: Vec<DeviceTaint>,
    /// True if the allocation of the device binds the claim to the node of the pod.
    #[field(proto = 9)]
    pub binds_to_node: Option<bool>,
    /// Types of conditions that must be True before a pod is bound to a node.
    #[field(proto = 10, list_type = atomic)]
    pub binding_conditions: Vec<String>,
    /// Types of conditions that are True if the preparation of the device failed.
    #[field(proto = 11, list_type = atomic)]
    pub binding_failure_conditions: Vec<String>,
    /// True if several claims can share the device.
    #[field(proto = 12)]
    pub allow_multiple_allocations: Option<bool>,
    /// Node resources that the device consumes, by resource name. Belongs to an alpha feature that is disabled here:
    /// values are dropped.
    #[field(proto = 13, go_type = "map[v1.ResourceName]NodeAllocatableResourceMapping")]
    pub node_allocatable_resource_mappings: BTreeMap<String, NodeAllocatableResourceMapping>,
}

/// Value of a device attribute. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceAttribute {
    /// An integer.
    #[field(proto = 2, go_name = "IntValue")]
    pub int: Option<i64>,
    /// A boolean.
    #[field(proto = 3, go_name = "BoolValue")]
    pub bool: Option<bool>,
    /// A string of at most 64 bytes.
    #[field(proto = 4, go_name = "StringValue")]
    pub string: Option<String>,
    /// A semantic version (semver.org 2.0.0) of at most 64 bytes.
    #[field(proto = 5, go_name = "VersionValue")]
    pub version: Option<String>,
    /// Several integers. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 6, list_type = atomic, go_name = "IntValues")]
    pub ints: Vec<i64>,
    /// Several booleans. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 7, list_type = atomic, go_name = "BoolValues")]
    pub bools: Vec<bool>,
    /// Several strings. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 8, list_type = atomic, go_name = "StringValues")]
    pub strings: Vec<String>,
    /// Several versions. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 9, list_type = atomic, go_name = "VersionValues")]
    pub versions: Vec<String>,
}

/// A taint of a device, which repels claims.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceTaint {
    /// Key of the taint.
    #[field(proto = 1, keep)]
    pub key: String,
    /// Value of the taint.
    #[field(proto = 2)]
    pub value: String,
    /// Effect of the taint: NoSchedule prevents new allocations, NoExecute also evicts pods that use the device, None
    /// has no effect.
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
    /// Capacity of the device that determines the amount.
    #[field(proto = 1, go_type = "QualifiedName")]
    pub capacity_key: Option<String>,
    /// Consumed amount per unit of the capacity, or per device.
    #[field(proto = 2)]
    pub allocation_multiplier: Option<Quantity>,
}

impl DeviceTaint {
    /// Sets the default time, by the clock of the server.
    pub(crate) fn set_server_defaults(&mut self, environment: &Environment) {
        self.time_added.get_or_insert_with(|| environment.clock.now().into());
    }
}
