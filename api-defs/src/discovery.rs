//! `discovery.k8s.io`: where the pods behind services are.

pub mod v1;
pub mod v1beta1;
