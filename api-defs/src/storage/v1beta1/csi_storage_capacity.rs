//! Available storage capacity.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::quantity::Quantity;

/// Available capacity of a storage class in a part of the cluster, reported by a storage driver for the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1beta1",
    plural = "csistoragecapacities",
    unserved
)]
#[resource(storage_version = crate::storage::v1::CSIStorageCapacity)]
pub struct CSIStorageCapacity {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The nodes that can reach the storage; none when absent, all when empty. Cannot change.
    #[field(proto = 2)]
    pub node_topology: Option<LabelSelector>,
    /// The storage class. Cannot change.
    #[field(proto = 3, keep)]
    pub storage_class_name: String,
    /// Available capacity. Unknown when absent.
    #[field(proto = 4)]
    pub capacity: Option<Quantity>,
    /// The largest volume that can still be made; unknown when absent.
    #[field(proto = 5)]
    pub maximum_volume_size: Option<Quantity>,
}
