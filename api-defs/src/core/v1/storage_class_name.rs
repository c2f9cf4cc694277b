//! References of volumes and claims to their storage class.

/// Annotation that named the class before the field existed.
pub(super) const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
