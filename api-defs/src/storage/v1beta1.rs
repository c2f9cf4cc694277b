//! `storage.k8s.io/v1beta1`: classes of volume attributes. Its other kinds are no longer served.

mod csi_driver;
mod csi_node;
mod csi_storage_capacity;
mod storage_class;
mod volume_attachment;
mod volume_attributes_class;

pub use csi_driver::{CSIDriver, CSIDriverSpec};
pub use csi_node::CSINode;
pub use csi_storage_capacity::CSIStorageCapacity;
pub use storage_class::StorageClass;
pub use volume_attachment::VolumeAttachment;
pub use volume_attributes_class::VolumeAttributesClass;
