//! Autoscalers by CPU utilization.

mod convert;

#[cfg(test)]
mod tests;

use planesmith_machinery::conversion::convert;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object as _;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

/// Keeps the CPU utilization of pods at a target by changing the number of replicas. Annotations carry the fields of
/// newer versions.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "autoscaling",
    version = "v1",
    short("hpa"),
    categories("all"),
    status,
    strategy
)]
#[resource(storage_version = crate::autoscaling::v2::HorizontalPodAutoscaler, convert)]
pub struct HorizontalPodAutoscaler {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The scaled object and the bounds of its replicas.
    #[field(proto = 2, required)]
    pub spec: HorizontalPodAutoscalerSpec,
    /// Last observation and action of the autoscaler.
    #[field(proto = 3)]
    pub status: HorizontalPodAutoscalerStatus,
}

/// The object that an autoscaler scales and the bounds of its replicas.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HorizontalPodAutoscalerSpec {
    /// The scaled object; any object with a scale subresource.
    #[field(proto = 1, keep)]
    pub scale_target_ref: CrossVersionObjectReference,
    /// Minimum number of replicas. 1 when absent.
    #[field(proto = 2)]
    pub min_replicas: Option<i32>,
    /// Maximum number of replicas; not less than minReplicas.
    #[field(proto = 3, keep)]
    pub max_replicas: i32,
    /// Target of the average CPU utilization in percent of the requests. 80 when no metric is set here or in
    /// annotations.
    #[field(name = "targetCPUUtilizationPercentage", proto = 4)]
    pub target_cpu_utilization_percentage: Option<i32>,
}

/// Reference to an object in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct CrossVersionObjectReference {
    /// Kind of the object.
    #[field(proto = 1, keep)]
    pub kind: String,
    /// Name of the object.
    #[field(proto = 2, keep)]
    pub name: String,
    /// Group and version of the object.
    #[field(proto = 3)]
    pub api_version: String,
}

/// Last observation and action of an autoscaler.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HorizontalPodAutoscalerStatus {
    /// Generation of the autoscaler that the status describes.
    #[field(proto = 1)]
    pub observed_generation: Option<i64>,
    /// Time of the last change of the number of replicas.
    #[field(proto = 2)]
    pub last_scale_time: Option<Time>,
    /// Last observed number of replicas.
    #[field(proto = 3, keep)]
    pub current_replicas: i32,
    /// Desired number of replicas.
    #[field(proto = 4, keep)]
    pub desired_replicas: i32,
    /// Observed average CPU utilization in percent of the requests.
    #[field(name = "currentCPUUtilizationPercentage", proto = 5)]
    pub current_cpu_utilization_percentage: Option<i32>,
}

impl Strategy for HorizontalPodAutoscaler {
    /// Sets the defaults, then converts the annotations to the storage version and back. Annotations that are
    /// unreadable or redundant are removed before they are returned or get a field manager.
    fn set_defaults(&mut self) {
        self.spec.min_replicas.get_or_insert(1);
        let hub = convert(self, &self.resource().hub());
        if let Some(read) = convert(&*hub, self.resource()).downcast_ref::<Self>() {
            self.clone_from(read);
        }
    }
}
