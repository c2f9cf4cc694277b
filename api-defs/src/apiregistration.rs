//! `apiregistration.k8s.io`: servers of group versions.

pub mod v1;
pub mod v1beta1;
