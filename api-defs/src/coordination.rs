//! `coordination.k8s.io`: agreement between programs.

pub mod v1;
