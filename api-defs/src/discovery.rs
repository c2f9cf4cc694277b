//! `discovery.k8s.io`: endpoints of services.

pub mod v1;
pub mod v1beta1;
