//! `autoscaling/v1`: autoscalers with a processor target only, and the scale of anything that has replicas.

mod annotation;
mod horizontal_pod_autoscaler;

pub use horizontal_pod_autoscaler::{
    CrossVersionObjectReference, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec, HorizontalPodAutoscalerStatus,
};
pub use planesmith_machinery::scale::v1::{Scale, ScaleSpec, ScaleStatus};
