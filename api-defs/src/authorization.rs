//! `authorization.k8s.io`: who may do what.

pub mod v1;
pub mod v1beta1;
