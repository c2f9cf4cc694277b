//! `discovery.k8s.io/v1`.

mod endpoint_slice;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use endpoint_slice::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice, ForNode, ForZone};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_200, 15);
