//! `coordination.k8s.io/v1`.

mod lease;

pub use lease::{Lease, LeaseSpec};
