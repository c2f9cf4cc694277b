//! `scheduling.k8s.io`: which pods run where and first.

pub mod v1;
