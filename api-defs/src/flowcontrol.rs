//! `flowcontrol.apiserver.k8s.io`: priority and fairness of requests.

pub mod v1;
pub mod v1beta1;
pub mod v1beta2;
pub mod v1beta3;
