//! `batch`: pods that end, once or by the clock.

pub mod v1;
pub mod v1beta1;
