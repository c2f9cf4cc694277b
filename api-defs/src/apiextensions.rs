//! `apiextensions.k8s.io`: custom resource definitions.

pub mod v1;
#[cfg(feature = "kubernetes")]
pub mod v1beta1;
