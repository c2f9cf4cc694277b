//! `scheduling.k8s.io/v1`.

mod priority_class;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use priority_class::PriorityClass;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_600, 15);
