//! `networking.k8s.io`: ways into the cluster and through it, and addresses for services.

pub mod v1;
pub mod v1beta1;
