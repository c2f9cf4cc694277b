//! `authentication.k8s.io`: reviews of tokens and users.

pub mod v1;
pub mod v1beta1;
