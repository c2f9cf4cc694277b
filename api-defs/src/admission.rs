//! `admission.k8s.io`: the protocol between the server and admission webhooks.

pub mod v1;
pub mod v1beta1;
