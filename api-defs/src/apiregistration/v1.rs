//! `apiregistration.k8s.io/v1`: API services, the servers of group versions.

mod api_service;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use api_service::{APIService, APIServiceCondition, APIServiceSpec, APIServiceStatus, ServiceReference};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(20_000, 20);
