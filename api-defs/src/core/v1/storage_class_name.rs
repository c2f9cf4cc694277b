//! References of volumes and claims to their storage class.

/// The annotation that named the class before there was a field.
pub(super) const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
