//! Deployments: pods that are replaced gradually when their template changes.

mod check;
mod columns;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use crate::apps::annotated_int::parse_int;
use crate::core::v1::PodTemplateSpec;
use crate::core::v1::workload::counts::check_collisions;
use crate::core::v1::workload::selector::check_unchanged;
use crate::core::v1::workload::template::template_warnings;

/// Annotation with the revision that an old client requested to roll back to. Newer clients perform rollbacks
/// themselves.
pub(crate) const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

/// Runs a number of equal pods and replaces them gradually when their template changes.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1",
    short("deploy"),
    categories("all"),
    status,
    status_resets("metadata.labels"),
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Ready", type = "string", doc = "Ready and desired pods.", with = columns::ready),
    column(name = "Up-to-date", type = "string", doc = "Pods of the current template.", with = columns::updated),
    column(name = "Available", type = "string", doc = "Pods that have been ready for long enough.", with = columns::available),
    column(age),
    column(name = "Containers", type = "string", doc = "Names of the containers in the template.", priority = 1, with = columns::containers),
    column(name = "Images", type = "string", doc = "Images of the containers in the template.", priority = 1, with = columns::images),
    column(name = "Selector", type = "string", doc = "Selector of the pods.", priority = 1, with = columns::selector)
)]
pub struct Deployment {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired pods and the strategy to replace them.
    #[field(proto = 2)]
    pub spec: DeploymentSpec,
    /// Observed state, written by the controller.
    #[field(proto = 3)]
    pub status: DeploymentStatus,
}

/// Desired state of a deployment.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeploymentSpec {
    /// Desired number of pods. 1 when absent.
    #[field(proto = 1)]
    pub replicas: Option<i32>,
    /// Labels of the pods that belong to the deployment. Must match the labels of the template. Immutable.
    #[field(proto = 2, keep)]
    pub selector: Option<LabelSelector>,
    /// Template of the pods. The restartPolicy must be Always.
    #[field(proto = 3, keep)]
    pub template: PodTemplateSpec,
    /// Strategy to replace pods after the template changed.
    #[field(proto = 4, patch_strategy(retain_keys))]
    pub strategy: DeploymentStrategy,
    /// Minimum time in seconds that a new pod must be ready, without any container crashing, to count as available. 0
    /// counts it at once.
    #[field(proto = 5)]
    pub min_ready_seconds: i32,
    /// Number of old replica sets that are kept for rollbacks. 10 when absent.
    #[field(proto = 6)]
    pub revision_history_limit: Option<i32>,
    /// True to pause rollouts: changes of the template have no effect until resumption.
    #[field(proto = 7)]
    pub paused: bool,
    /// Maximum time in seconds without progress. After it, a condition reports the rollout as failed, and the
    /// controller continues. Paused time does not count. 600 when absent.
    #[field(proto = 9)]
    pub progress_deadline_seconds: Option<i32>,
}

/// Strategy to replace the pods of a deployment after its template changed.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeploymentStrategy {
    /// Type of the strategy: Recreate deletes all old pods before it creates new ones; RollingUpdate (the default)
    /// replaces them a few at a time.
    #[field(
        name = "type",
        proto = 1,
        known("Recreate", "RollingUpdate"),
        go_type = "DeploymentStrategyType"
    )]
    pub type_: String,
    /// Parameters of a rolling update. Only for the type RollingUpdate.
    #[field(proto = 2)]
    pub rolling_update: Option<RollingUpdateDeployment>,
}

/// Parameters of a deployment's rolling update.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(internal = crate::apps::v1::internal_layout::ROLLING_UPDATE)]
pub struct RollingUpdateDeployment {
    /// Maximum number of unavailable pods during an update: a number, or a percentage of the desired pods, rounded
    /// down. Must not be 0 if maxSurge is 0. 25% when absent.
    #[field(proto = 1)]
    pub max_unavailable: Option<IntOrString>,
    /// Maximum number of pods above the desired number during an update: a number, or a percentage of the desired pods,
    /// rounded up. Must not be 0 if maxUnavailable is 0. 25% when absent.
    #[field(proto = 2)]
    pub max_surge: Option<IntOrString>,
}

/// Observed state of a deployment.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeploymentStatus {
    /// Generation of the deployment that the status describes.
    #[field(proto = 1)]
    pub observed_generation: i64,
    /// Number of pods that are not terminating.
    #[field(proto = 2)]
    pub replicas: i32,
    /// Number of non-terminating pods that were created from the current template.
    #[field(proto = 3)]
    pub updated_replicas: i32,
    /// Number of non-terminating pods that are ready.
    #[field(proto = 7)]
    pub ready_replicas: i32,
    /// Number of non-terminating pods that have been ready for minReadySeconds.
    #[field(proto = 4)]
    pub available_replicas: i32,
    /// Number of pods that are missing until all desired pods are available: not created yet, or not available yet.
    #[field(proto = 5)]
    pub unavailable_replicas: i32,
    /// Number of terminating pods: marked for deletion but not stopped yet.
    #[field(proto = 9)]
    pub terminating_replicas: Option<i32>,
    /// Conditions, for example about the availability of the deployment and the progress of a rollout.
    #[field(proto = 6, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<DeploymentCondition>,
    /// Number of name collisions of new replica sets. The controller derives the next name from it.
    #[field(proto = 8)]
    pub collision_count: Option<i32>,
}

/// A condition of a deployment.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeploymentCondition {
    /// Type of the condition: Available, Progressing or ReplicaFailure.
    #[field(name = "type", proto = 1, keep, go_type = "DeploymentConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "v1.ConditionStatus")]
    pub status: String,
    /// Time of the last update of the condition.
    #[field(proto = 6)]
    pub last_update_time: Time,
    /// Time of the last change of status.
    #[field(proto = 7)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 4)]
    pub reason: String,
    /// Human-readable explanation of the last transition. Its text may differ between releases.
    #[field(proto = 5)]
    pub message: String,
}

impl Strategy for Deployment {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.spec.template.drop_disabled(None, context.features);
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        self.spec
            .template
            .drop_disabled(Some(&old.spec.template), context.features);
        // The controller copies annotations to replica sets, so a change of annotations counts as a change of the spec.
        if self.metadata.annotations != old.metadata.annotations {
            self.metadata.generation = old.metadata.generation + 1;
        }
    }

    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.labels.clone_from(&old.metadata.labels);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
        check_unchanged(self.spec.selector.as_ref(), old.spec.selector.as_ref(), errors);
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("status");
        self.status.check(errors);
        check_collisions(self.status.collision_count, old.status.collision_count, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        template_warnings(&self.metadata, &self.spec.template, None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        template_warnings(&self.metadata, &self.spec.template, Some(old.metadata.generation))
    }
}

impl StrategyExtensions for Deployment {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn conversion_problem(&self) -> Option<String> {
        let revision = self.metadata.annotations.get(ROLLBACK_TO)?;
        match parse_int(revision) {
            Err(why) if !revision.is_empty() => Some(format!(
                "failed to parse annotation[{ROLLBACK_TO}]={revision} as int64: {why}"
            )),
            _ => None,
        }
    }

    fn prepare_bookmark(&mut self) {
        self.spec.replicas = Some(0);
    }
}

impl DeploymentSpec {
    /// Sets the defaults.
    pub(crate) fn set_defaults(&mut self) {
        self.replicas.get_or_insert(1);
        self.strategy.set_defaults(&IntOrString::from("25%"));
        self.revision_history_limit.get_or_insert(10);
        self.progress_deadline_seconds.get_or_insert(600);
        self.template.set_defaults();
    }
}

impl DeploymentStrategy {
    /// Sets the defaults of the strategy; `amount` is the version's default of maxUnavailable and maxSurge.
    pub(crate) fn set_defaults(&mut self, amount: &IntOrString) {
        if self.type_.is_empty() {
            "RollingUpdate".clone_into(&mut self.type_);
        }
        if self.type_ == "RollingUpdate" {
            let rolling = self.rolling_update.get_or_insert_default();
            rolling.max_unavailable.get_or_insert_with(|| amount.clone());
            rolling.max_surge.get_or_insert_with(|| amount.clone());
        }
    }
}
