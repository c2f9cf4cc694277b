//! `admission.k8s.io`: what the server and admission webhooks say to each other.

pub mod v1;
pub mod v1beta1;
