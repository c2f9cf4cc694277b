//! Claims to storage.

mod spec;

pub use spec::{PersistentVolumeClaimSpec, VolumeResourceRequirements};
