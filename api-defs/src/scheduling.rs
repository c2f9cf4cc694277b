//! Priorities of pods and groups of pods that are scheduled together (`scheduling.k8s.io`).

pub mod v1;
pub mod v1alpha2;
pub mod v1beta1;
