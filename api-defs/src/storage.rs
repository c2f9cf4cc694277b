//! Storage classes, storage drivers and attachments of volumes.

pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;
