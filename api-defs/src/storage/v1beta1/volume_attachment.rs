//! Attachments of volumes to nodes.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::storage::v1::VolumeAttachmentSpec;
use crate::storage::v1::VolumeAttachmentStatus;

/// A request to attach a volume to a node, and its state.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "storage.k8s.io", version = "v1beta1", cluster, status, unserved)]
#[resource(storage_version = crate::storage::v1::VolumeAttachment)]
pub struct VolumeAttachment {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The volume, its node and its attacher. Immutable.
    #[field(proto = 2, keep)]
    pub spec: VolumeAttachmentSpec,
    /// State of the attachment, reported by the attacher.
    #[field(proto = 3)]
    pub status: VolumeAttachmentStatus,
}
