//! `coordination.k8s.io/v1alpha2`: candidates for leases.

mod lease_candidate;

pub use lease_candidate::{LeaseCandidate, LeaseCandidateSpec};
