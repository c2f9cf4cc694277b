//! `storage.k8s.io/v1beta1`: classes of volume attributes. Its other kinds are no longer served.

mod csi_driver;
mod csi_node;
mod csi_storage_capacity;
mod storage_class;
mod volume_attachment;
mod volume_attributes_class;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use csi_driver::{CSIDriver, CSIDriverSpec};
pub use csi_node::CSINode;
pub use csi_storage_capacity::CSIStorageCapacity;
pub use storage_class::StorageClass;
pub use volume_attachment::VolumeAttachment;
pub use volume_attributes_class::VolumeAttributesClass;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_800, 9);
