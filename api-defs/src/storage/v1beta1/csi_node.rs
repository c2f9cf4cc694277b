//! The storage drivers of a node.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::storage::v1::CSINodeSpec;

/// The storage drivers of a node, as its kubelet registers them. Has the name of the node.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "storage.k8s.io", version = "v1beta1", cluster, unserved)]
#[resource(storage_version = crate::storage::v1::CSINode)]
pub struct CSINode {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The drivers.
    #[field(proto = 2, keep)]
    pub spec: CSINodeSpec,
}
