//! `events.k8s.io/v1beta1`, which is no longer served.

mod event;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use event::Event;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_750, 5);
