//! `authorization.k8s.io`: reviews of permissions.

pub mod v1;
pub mod v1beta1;
