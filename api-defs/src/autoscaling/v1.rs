//! `autoscaling/v1`: autoscalers by CPU utilization, and the scale of objects with replicas.

mod annotation;
mod horizontal_pod_autoscaler;

pub use horizontal_pod_autoscaler::{
    CrossVersionObjectReference, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus,
};
pub use planesmith_machinery::scale::v1::{Scale, ScaleSpec, ScaleStatus};
