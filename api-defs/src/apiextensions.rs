//! `apiextensions.k8s.io`: kinds of one's own.

pub mod v1;
pub mod v1beta1;
