//! `storage.k8s.io/v1alpha1`, which is no longer served.

mod csi_storage_capacity;
mod volume_attachment;
mod volume_attributes_class;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use csi_storage_capacity::CSIStorageCapacity;
pub use volume_attachment::VolumeAttachment;
pub use volume_attributes_class::VolumeAttributesClass;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_800, 1);
