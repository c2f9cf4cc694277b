//! `autoscaling`: how many replicas run.

pub mod v1;
pub mod v2;
