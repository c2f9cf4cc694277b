//! `autoscaling/v2`: autoscalers by any metrics.

mod behavior;
pub(super) mod horizontal_pod_autoscaler;
mod metric_spec;
mod metric_status;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use behavior::{HPAScalingPolicy, HPAScalingRules, HorizontalPodAutoscalerBehavior};
pub use horizontal_pod_autoscaler::{
    CrossVersionObjectReference, HorizontalPodAutoscaler, HorizontalPodAutoscalerCondition,
    HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus,
};
pub use metric_spec::{
    ContainerResourceMetricSource, ExternalMetricSource, MetricIdentifier, MetricSpec, MetricTarget,
    ObjectMetricSource, PodsMetricSource, ResourceMetricSource,
};
pub use metric_status::{
    ContainerResourceMetricStatus, ExternalMetricStatus, MetricStatus, MetricValueStatus, ObjectMetricStatus,
    PodsMetricStatus, ResourceMetricStatus,
};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_500, 30);
