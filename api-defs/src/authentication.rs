//! `authentication.k8s.io`: who asks, and whose token it is.

pub mod v1;
pub mod v1beta1;
