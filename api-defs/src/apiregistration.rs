//! `apiregistration.k8s.io`: group versions and the servers that serve them.

pub mod v1;
#[cfg(feature = "kubernetes")]
pub mod v1beta1;
