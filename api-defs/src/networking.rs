//! `networking.k8s.io`: ingresses, network policies and IP addresses of services.

pub mod v1;
pub mod v1beta1;
