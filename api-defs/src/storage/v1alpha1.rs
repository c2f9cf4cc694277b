//! `storage.k8s.io/v1alpha1`, which is no longer served.

mod csi_storage_capacity;
mod volume_attachment;
mod volume_attributes_class;

pub use csi_storage_capacity::CSIStorageCapacity;
pub use volume_attachment::VolumeAttachment;
pub use volume_attributes_class::VolumeAttributesClass;
