//! `rbac.authorization.k8s.io`: roles and their bindings.

pub mod v1;
#[cfg(feature = "kubernetes")]
pub mod v1alpha1;
#[cfg(feature = "kubernetes")]
pub mod v1beta1;
