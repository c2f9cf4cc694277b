//! `coordination.k8s.io/v1beta1`: candidates for leases. Leases of this version are no longer served.

mod lease;
mod lease_candidate;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use lease::Lease;
pub use lease_candidate::{LeaseCandidate, LeaseCandidateSpec};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_500, 13);
