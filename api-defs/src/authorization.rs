//! `authorization.k8s.io`: reviews of permissions.

pub mod v1;
#[cfg(feature = "kubernetes")]
pub mod v1beta1;
