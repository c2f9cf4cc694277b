//! Runtimes that nodes use to run containers (`node.k8s.io`).

pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;
