//! `coordination.k8s.io/v1alpha2`: candidates for leases.

mod lease_candidate;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use lease_candidate::{LeaseCandidate, LeaseCandidateSpec};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_500, 12);
