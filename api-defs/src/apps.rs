//! `apps`: workload controllers.

pub mod v1;
pub mod v1beta1;
pub mod v1beta2;
