//! `coordination.k8s.io/v1`.

mod lease;

pub use lease::{Lease, LeaseSpec};

#[cfg(feature = "kubernetes")]
pub(crate) use lease::check_strategy;
