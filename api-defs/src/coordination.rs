//! Leases (`coordination.k8s.io`).

pub mod v1;
#[cfg(feature = "kubernetes")]
pub mod v1alpha2;
#[cfg(feature = "kubernetes")]
pub mod v1beta1;
