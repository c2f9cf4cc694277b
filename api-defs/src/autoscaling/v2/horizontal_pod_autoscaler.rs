//! Autoscalers by any metrics.

mod columns;

#[cfg(test)]
mod tests;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use crate::features::HPA_SCALE_TO_ZERO;

use super::{HorizontalPodAutoscalerBehavior, MetricSpec, MetricStatus};

use columns::{max_pods, min_pods, reference, replicas, targets};

/// Annotations in which older versions keep fields of newer ones.
pub(crate) mod preserved {
    pub(crate) const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
    pub(crate) const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
    pub(crate) const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
    pub(crate) const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
    const DOWN_TOLERANCE: &str = "autoscaling.alpha.kubernetes.io/scale-down-tolerance";
    const UP_TOLERANCE: &str = "autoscaling.alpha.kubernetes.io/scale-up-tolerance";

    /// All annotations, including two from versions before v2, which would be stale copies of fields here.
    pub(crate) const ALL: [&str; 6] = [
        METRICS,
        CURRENT_METRICS,
        CONDITIONS,
        BEHAVIOR,
        DOWN_TOLERANCE,
        UP_TOLERANCE,
    ];
}

/// Default target of the CPU utilization in percent.
pub(crate) const DEFAULT_CPU_PERCENT: i32 = 80;

/// Keeps metrics at their targets by changing the number of replicas of an object.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "autoscaling",
    version = "v2",
    short("hpa"),
    categories("all"),
    status,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Reference", type = "string", doc = "The scaled object.", with = reference),
    column(name = "Targets", type = "string", doc = "Current and target values of the metrics.", with = targets),
    column(name = "MinPods", type = "string", doc = "Minimum number of replicas.", with = min_pods),
    column(name = "MaxPods", type = "string", doc = "Maximum number of replicas.", with = max_pods),
    column(name = "Replicas", type = "string", doc = "Number of replicas.", with = replicas),
    column(age)
)]
pub struct HorizontalPodAutoscaler {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The scaled object, its metrics and the bounds of its replicas.
    #[field(proto = 2, required)]
    pub spec: HorizontalPodAutoscalerSpec,
    /// Last observation and action of the autoscaler.
    #[field(proto = 3)]
    pub status: HorizontalPodAutoscalerStatus,
}

/// The object that an autoscaler scales, its metrics and the bounds of its replicas.
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
    /// Metrics and their targets. The metric that yields the most replicas decides. When empty, the average CPU
    /// utilization is kept at 80 percent of the requests.
    #[field(proto = 4, list_type = atomic)]
    pub metrics: Vec<MetricSpec>,
    /// Scaling rules for both directions. Each direction has its own defaults when absent.
    #[field(proto = 5)]
    pub behavior: Option<HorizontalPodAutoscalerBehavior>,
}

/// Reference to an object in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CrossVersionObjectReference {
    /// Kind of the object, such as Deployment.
    #[field(proto = 1, keep)]
    pub kind: String,
    /// Name of the object, in the same namespace.
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
    #[field(proto = 3)]
    pub current_replicas: i32,
    /// Desired number of replicas.
    #[field(proto = 4, keep)]
    pub desired_replicas: i32,
    /// Last observed values of the metrics.
    #[field(proto = 5, keep, optional, list_type = atomic)]
    pub current_metrics: Vec<MetricStatus>,
    /// Conditions, for example about the autoscaler's ability to scale and its active limits.
    #[field(proto = 6, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<HorizontalPodAutoscalerCondition>,
}

/// A condition of an autoscaler.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HorizontalPodAutoscalerCondition {
    /// Type of the condition, such as AbleToScale, ScalingActive or ScalingLimited.
    #[field(name = "type", proto = 1, keep, go_type = "HorizontalPodAutoscalerConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "v1.ConditionStatus")]
    pub status: String,
    /// Time of the last change of status.
    #[field(proto = 3)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 4)]
    pub reason: String,
    /// Human-readable explanation of the last transition. Its text may differ between releases.
    #[field(proto = 5)]
    pub message: String,
}

impl Strategy for HorizontalPodAutoscaler {
    fn set_defaults(&mut self) {
        for stale in preserved::ALL {
            self.metadata.annotations.remove(stale);
        }
        let spec = &mut self.spec;
        spec.min_replicas.get_or_insert(1);
        if spec.metrics.is_empty() {
            spec.metrics.push(MetricSpec::cpu(DEFAULT_CPU_PERCENT));
        }
        if let Some(behavior) = &mut spec.behavior {
            behavior.set_defaults();
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        let counts = [
            ("status.currentReplicas", self.status.current_replicas),
            ("status.desiredReplicas", self.status.desired_replicas),
        ];
        for (field, count) in counts {
            if count < 0 {
                errors.invalid(field, count, "must be greater than or equal to 0");
            }
        }
    }
}

impl StrategyExtensions for HorizontalPodAutoscaler {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl HorizontalPodAutoscalerSpec {
    /// Reports errors in the spec. Violations that the old spec has and that were once legal are tolerated.
    fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let was_zero = old.is_some_and(|old| old.min_replicas == Some(0));
        let lowest = i32::from(!was_zero && !errors.features().has(&HPA_SCALE_TO_ZERO));
        if let Some(min) = self.min_replicas.filter(|min| *min < lowest) {
            errors.invalid("minReplicas", min, format!("must be greater than or equal to {lowest}"));
        }
        match self.max_replicas {
            0 => errors.required("maxReplicas", "must be set and greater than 0"),
            max @ ..0 => errors.invalid("maxReplicas", max, "must be greater than or equal to 1"),
            _ => {}
        }
        if self.min_replicas.is_some_and(|min| self.max_replicas < min) {
            errors.invalid(
                "maxReplicas",
                self.max_replicas,
                "must be greater than or equal to `minReplicas`",
            );
        }
        let target = &self.scale_target_ref;
        let allowed = target.versions_after(old.map(|old| &old.scale_target_ref));
        target.check(allowed, &mut errors.at("scaleTargetRef"));
        let odd = |metric: &MetricSpec| {
            let source = metric.object.as_ref();
            source.is_some_and(|source| !source.described_object.has_version())
        };
        let allowed = match old.is_some_and(|old| old.metrics.iter().any(odd)) {
            true => Versions::Any,
            false => Versions::AnyGroup,
        };
        for (index, metric) in self.metrics.iter().enumerate() {
            metric.check(allowed, &mut errors.at_index("metrics", index));
        }
        let outside = |metric: &MetricSpec| matches!(metric.type_.as_str(), "Object" | "External");
        if self.min_replicas == Some(0) && !self.metrics.iter().any(outside) {
            errors.forbidden(
                "metrics",
                "must specify at least one Object or External metric to support scaling to zero replicas",
            );
        }
        if let Some(behavior) = &self.behavior {
            behavior.check(&mut errors.at("behavior"));
        }
    }
}

/// Versions that a reference may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Versions {
    /// Versions that have a group.
    OfGroups,
    /// Versions with or without a group.
    AnyGroup,
    /// Any string. Applies to updates of an autoscaler that was stored with the reference.
    Any,
}

impl CrossVersionObjectReference {
    /// Reports errors in the reference.
    pub(super) fn check(&self, versions: Versions, errors: &mut FieldErrors) {
        for (field, value) in [("kind", &self.kind), ("name", &self.name)] {
            if value.is_empty() {
                errors.required(field, "");
            }
            for problem in names::path_segment(value) {
                errors.invalid(field, value.as_str(), problem);
            }
        }
        let version = self.api_version.as_str();
        match GroupVersion::parse(version) {
            _ if versions == Versions::Any => {}
            Err(problem) => errors.invalid("apiVersion", version, problem.to_string()),
            Ok(parsed) if parsed.group.is_empty() && versions == Versions::OfGroups => {
                errors.invalid("apiVersion", version, "apiVersion must specify API group");
            }
            Ok(_) => {}
        }
    }

    fn has_version(&self) -> bool {
        GroupVersion::parse(&self.api_version).is_ok()
    }

    /// Returns the legal versions of a target that replaces `old`: any version if version and kind are unchanged. The
    /// core group has one scalable kind.
    fn versions_after(&self, old: Option<&Self>) -> Versions {
        match old {
            Some(old) if old.api_version == self.api_version && old.kind == self.kind => Versions::Any,
            _ if self.kind == "ReplicationController" => Versions::AnyGroup,
            _ => Versions::OfGroups,
        }
    }
}
