//! Resource slices: available devices.

use planesmith_machinery::environment::Environment;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::StrategyExtensions;
use planesmith_machinery::{Resource, Struct};

use super::CounterSet;
use super::Device;
use crate::core::v1::NodeSelector;

/// Devices that a driver provides. A pool of devices consists of one or several slices.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1beta2",
    cluster,
    generation,
    returns_deleted,
    selectable("spec.driver", "spec.nodeName"),
    strategy_extensions
)]
#[resource(deprecated = "resource.k8s.io/v1beta2 ResourceSlice is deprecated in v1.36+, unavailable in v1.39+")]
#[resource(storage_version = crate::resource::v1::ResourceSlice)]
pub struct ResourceSlice {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The driver, the pool and the devices.
    #[field(proto = 2, keep)]
    pub spec: ResourceSliceSpec,
}

/// Devices that a driver provides.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceSliceSpec {
    /// Driver of the devices. Immutable.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Pool that the devices belong to.
    #[field(proto = 2, keep)]
    pub pool: ResourcePool,
    /// Name of the node that the devices belong to. Immutable.
    #[field(proto = 3)]
    pub node_name: Option<String>,
    /// Nodes that can access the devices.
    #[field(proto = 4)]
    pub node_selector: Option<NodeSelector>,
    /// True if all nodes can access the devices.
    #[field(proto = 5)]
    pub all_nodes: Option<bool>,
    /// Devices, at most 128, or 64 if some of them have taints or consume counters.
    #[field(proto = 6, list_type = atomic)]
    pub devices: Vec<Device>,
    /// True if each device specifies the nodes that can access it.
    #[field(proto = 7)]
    pub per_device_node_selection: Option<bool>,
    /// Counters that several devices of the pool share.
    #[field(proto = 8, list_type = atomic)]
    pub shared_counters: Vec<CounterSet>,
}

/// A pool of devices.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourcePool {
    /// Name of the pool, often that of a node.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Generation of the pool, which increases with every change. Slices of older generations are ignored.
    #[field(proto = 2, keep)]
    pub generation: i64,
    /// Number of slices of the pool in this generation.
    #[field(proto = 3, keep)]
    pub resource_slice_count: i64,
}

impl StrategyExtensions for ResourceSlice {
    fn set_server_defaults(&mut self, environment: &Environment) {
        for taint in self.spec.devices.iter_mut().flat_map(|device| &mut device.taints) {
            taint.time_added.get_or_insert_with(|| environment.clock.now().into());
        }
    }
}
