//! `apiextensions.k8s.io`: custom resource definitions.

pub mod v1;
pub mod v1beta1;
