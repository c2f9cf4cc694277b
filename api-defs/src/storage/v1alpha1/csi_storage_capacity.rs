//! Available storage capacity.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::quantity::Quantity;

/// Available capacity of a storage class in a part of the cluster, reported by a storage driver for the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1alpha1",
    plural = "csistoragecapacities",
    unserved
)]
#[resource(storage_version = crate::storage::v1::CSIStorageCapacity)]
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
