//! `events.k8s.io`: reports of things that happened.

pub mod v1;
pub mod v1beta1;
