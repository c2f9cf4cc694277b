//! `apps`: controllers that keep pods running.

pub mod v1;
pub mod v1beta1;
pub mod v1beta2;
