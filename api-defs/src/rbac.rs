//! `rbac.authorization.k8s.io`: roles and their bindings.

pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;
