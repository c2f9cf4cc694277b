//! Storage drivers of nodes.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::check_driver_name;

/// Storage drivers of a node, registered by its kubelet. Has the same name as the node.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1",
    cluster,
    conditional_update,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(column(name), column(name = "Drivers", type = "integer", doc = "Number of drivers.", with = drivers_cell), column(age))]
pub struct CSINode {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The drivers of the node.
    #[field(proto = 2, keep)]
    pub spec: CSINodeSpec,
}

/// The storage drivers of a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSINodeSpec {
    /// Drivers that are installed on the node.
    #[field(proto = 1, keep, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub drivers: Vec<CSINodeDriver>,
}

/// A storage driver of a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSINodeDriver {
    /// Name of the driver, which is also the name of its CSIDriver object.
    #[field(proto = 1, keep)]
    pub name: String,
    /// ID of the node in the driver. Immutable.
    #[field(name = "nodeID", proto = 2, keep)]
    pub node_id: String,
    /// Keys of node labels that define the topology of the driver's volumes.
    #[field(proto = 3, keep, optional, list_type = atomic)]
    pub topology_keys: Vec<String>,
    /// Volume limits of the driver on this node. No limit when absent.
    #[field(proto = 4)]
    pub allocatable: Option<VolumeNodeResources>,
}

/// Volume limits of a driver on a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeNodeResources {
    /// Maximum number of the driver's volumes in use on the node. No limit when absent.
    #[field(proto = 1)]
    pub count: Option<i32>,
}

/// Maximum length of a node ID in bytes.
const MAX_NODE_ID: usize = 256;

fn drivers_cell(node: &CSINode) -> Cell {
    Cell::Integer(node.spec.drivers.len() as i64)
}

impl Strategy for CSINode {
    fn validate(&self, errors: &mut FieldErrors) {
        let mut names = BTreeSet::new();
        for (index, driver) in self.spec.drivers.iter().enumerate() {
            let errors = &mut *errors.at_index("spec.drivers", index);
            driver.check(errors);
            if !names.insert(driver.name.as_str()) {
                errors.duplicate("name", &driver.name);
            }
            driver.check_topology_keys(errors);
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        for old in &old.spec.drivers {
            for new in self.spec.drivers.iter().filter(|new| new.name == old.name) {
                // The volume limit is mutable, because it is updated periodically.
                let [new, old] = [new, old].map(|driver| CSINodeDriver {
                    allocatable: None,
                    ..driver.clone()
                });
                if new != old {
                    errors.invalid("spec.drivers", GoValue(&new), "field is immutable");
                }
            }
        }
    }
}

impl StrategyExtensions for CSINode {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;
}

impl CSINodeDriver {
    fn check(&self, errors: &mut FieldErrors) {
        check_driver_name("name", &self.name, errors);
        if self.node_id.is_empty() {
            errors.required("nodeID", "");
        } else if self.node_id.len() > MAX_NODE_ID {
            let detail = format!("must be {MAX_NODE_ID} characters or less");
            errors.invalid("nodeID", &self.node_id, detail);
        }
        if let Some(count @ ..0) = self.allocatable.as_ref().and_then(|resources| resources.count) {
            errors.invalid("allocatable.count", count, "must be greater than or equal to 0");
        }
    }

    /// Reports errors in the topology keys, at the path of the driver.
    fn check_topology_keys(&self, errors: &mut FieldErrors) {
        let mut keys = BTreeSet::new();
        for key in &self.topology_keys {
            if key.is_empty() {
                errors.required("", "");
            }
            if !keys.insert(key.as_str()) {
                errors.duplicate("", key);
            }
            for problem in names::qualified_name(key) {
                errors.invalid("", key, problem);
            }
        }
    }
}
