//! `autoscaling/v1`: autoscalers by CPU utilization, and the scale of objects with replicas.

mod annotation;
mod horizontal_pod_autoscaler;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use horizontal_pod_autoscaler::{
    CrossVersionObjectReference, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus,
};
pub use planesmith_machinery::scale::v1::{Scale, ScaleSpec, ScaleStatus};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_500, 15);
