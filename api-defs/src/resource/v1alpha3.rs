//! `resource.k8s.io/v1alpha3`: taints of devices that administrators set, and requests for the status of pools.

mod device_taint_rule;
mod resource_pool_status_request;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use device_taint_rule::{
    DeviceTaint, DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintRuleStatus, DeviceTaintSelector,
};
pub use resource_pool_status_request::{
    PoolStatus, ResourcePoolStatusRequest, ResourcePoolStatusRequestSpec, ResourcePoolStatusRequestStatus,
};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_200, 1);
