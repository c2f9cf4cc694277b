//! `apps`: workload controllers.

mod annotated_int;
pub mod v1;
pub mod v1beta1;
pub mod v1beta2;
