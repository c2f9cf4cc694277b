//! Available storage capacity.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::validation::{SelectorValues, check_label_selector};
use planesmith_machinery::value::Value;

use crate::core::v1::of_node_label_selector;
use crate::created_at::created_at;

/// Available capacity of a storage class in a part of the cluster, reported by a storage driver for the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1",
    plural = "csistoragecapacities",
    conditional_update,
    strategy,
    strategy_extensions
)]
#[resource(column(name), column(name = "Created At", type = "date", doc = "Creation time.", with = created_at))]
pub struct CSIStorageCapacity {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Nodes that can access the storage. No nodes when absent, all when empty. Immutable.
    #[field(proto = 2)]
    pub node_topology: Option<LabelSelector>,
    /// Name of the storage class. Immutable.
    #[field(proto = 3, keep)]
    pub storage_class_name: String,
    /// Available capacity. Unknown when absent.
    #[field(proto = 4)]
    pub capacity: Option<Quantity>,
    /// Maximum size of a new volume. Unknown when absent.
    #[field(proto = 5)]
    pub maximum_volume_size: Option<Quantity>,
}

impl Strategy for CSIStorageCapacity {
    fn validate(&self, errors: &mut FieldErrors) {
        self.check(SelectorValues::Legal, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.node_topology != old.node_topology {
            errors.invalid("nodeTopology", &self.node_topology as &dyn Value, "field is immutable");
        }
        if self.storage_class_name != old.storage_class_name {
            errors.invalid("storageClassName", &self.storage_class_name, "field is immutable");
        }
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let topology = self.node_topology.as_ref();
        topology.map_or_else(Vec::new, |topology| of_node_label_selector(topology, "nodeTopology"))
    }
}

impl StrategyExtensions for CSIStorageCapacity {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        let topology = old.node_topology.as_ref();
        self.check(
            topology.map_or(SelectorValues::Legal, SelectorValues::as_stored),
            errors,
        );
    }
}

impl CSIStorageCapacity {
    fn check(&self, values: SelectorValues, errors: &mut FieldErrors) {
        if let Some(topology) = &self.node_topology {
            check_label_selector(topology, values, &mut errors.at("nodeTopology"));
        }
        for problem in names::dns_subdomain(&self.storage_class_name) {
            errors.invalid("storageClassName", &self.storage_class_name, problem);
        }
        if let Some(capacity) = &self.capacity
            && capacity.is_negative()
        {
            errors.invalid("capacity", capacity.as_str(), "must be greater than or equal to 0");
        }
    }
}
