//! `storage.k8s.io/v1`: storage classes, storage drivers and attachments of volumes.

mod csi_driver;
mod csi_node;
mod csi_storage_capacity;
mod parameters;
mod storage_class;
mod volume_attachment;
mod volume_attributes_class;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use csi_driver::{CSIDriver, CSIDriverSpec, TokenRequest};
pub use csi_node::{CSINode, CSINodeDriver, CSINodeSpec, VolumeNodeResources};
pub use csi_storage_capacity::CSIStorageCapacity;
pub use storage_class::StorageClass;
pub use volume_attachment::{
    VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentSpec, VolumeAttachmentStatus, VolumeError,
};
pub use volume_attributes_class::VolumeAttributesClass;

pub(crate) use storage_class::default_policies;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_800, 15);
