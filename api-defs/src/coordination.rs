//! Leases (`coordination.k8s.io`).

pub mod v1;
pub mod v1alpha2;
pub mod v1beta1;
