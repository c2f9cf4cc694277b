//! `node.k8s.io/v1`: runtime classes.

mod runtime_class;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use runtime_class::{Overhead, RuntimeClass, Scheduling};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_300, 15);
