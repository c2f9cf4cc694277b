//! `flowcontrol.apiserver.k8s.io`: which requests the server works on at once, and which wait.

pub mod v1;
pub mod v1beta1;
pub mod v1beta2;
pub mod v1beta3;
