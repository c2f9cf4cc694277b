//! `authentication.k8s.io`: reviews of tokens and users.

pub mod v1;
#[cfg(feature = "kubernetes")]
pub mod v1beta1;
