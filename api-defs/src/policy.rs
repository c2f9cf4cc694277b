//! `policy`: how much of an application may be missing at a time.

pub mod v1;
pub mod v1beta1;
