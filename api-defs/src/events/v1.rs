//! `events.k8s.io/v1`: events in the newer format.

mod event;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use event::{Event, EventSeries};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_750, 15);
