//! Storage drivers of nodes.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::storage::v1::CSINodeSpec;

/// Storage drivers of a node, registered by its kubelet. Has the same name as the node.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "storage.k8s.io", version = "v1beta1", cluster, unserved)]
#[resource(storage_version = crate::storage::v1::CSINode)]
pub struct CSINode {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The drivers of the node.
    #[field(proto = 2, keep)]
    pub spec: CSINodeSpec,
}
