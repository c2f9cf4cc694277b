//! `coordination.k8s.io/v1`.

mod lease;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use lease::{Lease, LeaseSpec};

#[cfg(feature = "kubernetes")]
pub(crate) use lease::check_strategy;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_500, 15);
