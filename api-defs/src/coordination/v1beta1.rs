//! `coordination.k8s.io/v1beta1`: candidates for leases. Leases of this version are no longer served.

mod lease;
mod lease_candidate;

pub use lease::Lease;
pub use lease_candidate::{LeaseCandidate, LeaseCandidateSpec};
