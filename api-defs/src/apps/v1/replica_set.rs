//! Replica sets: a number of equal pods. Deployments have one for each of their templates.

mod columns;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::PodTemplateSpec;
use crate::core::v1::workload::counts::{check_at_most, check_from_zero};
use crate::core::v1::workload::selector::{check_template, check_unchanged};
use crate::core::v1::workload::template::template_warnings;

/// Runs a number of equal pods. Usually created by deployments, one for each revision of the template.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1",
    short("rs"),
    categories("all"),
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Desired", type = "integer", doc = "Desired number of pods.", with = columns::desired),
    column(name = "Current", type = "integer", doc = "Number of pods.", with = columns::current),
    column(name = "Ready", type = "integer", doc = "Number of ready pods.", with = columns::ready),
    column(age),
    column(name = "Containers", type = "string", doc = "Names of the containers in the template.", priority = 1, with = columns::containers),
    column(name = "Images", type = "string", doc = "Images of the containers in the template.", priority = 1, with = columns::images),
    column(name = "Selector", type = "string", doc = "Selector of the pods.", priority = 1, with = columns::selector)
)]
pub struct ReplicaSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired pods.
    #[field(proto = 2)]
    pub spec: ReplicaSetSpec,
    /// Observed state. May lag behind the actual state.
    #[field(proto = 3)]
    pub status: ReplicaSetStatus,
}

/// Desired state of a replica set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ReplicaSetSpec {
    /// Desired number of pods. 1 when absent.
    #[field(proto = 1)]
    pub replicas: Option<i32>,
    /// Minimum time in seconds that a new pod must be ready, without any container crashing, to count as available. 0
    /// counts it at once.
    #[field(proto = 4)]
    pub min_ready_seconds: i32,
    /// Labels of the pods that belong to the daemon set. Must match the labels of the template. Immutable.
    #[field(proto = 2, keep)]
    pub selector: Option<LabelSelector>,
    /// Template of new pods. A change does not affect pods that exist.
    #[field(proto = 3)]
    pub template: PodTemplateSpec,
}

/// Observed state of a replica set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ReplicaSetStatus {
    /// Number of pods that are not terminating.
    #[field(proto = 1, keep)]
    pub replicas: i32,
    /// Number of non-terminating pods that have all labels of the template.
    #[field(proto = 2)]
    pub fully_labeled_replicas: i32,
    /// Number of non-terminating pods that are ready.
    #[field(proto = 4)]
    pub ready_replicas: i32,
    /// Number of non-terminating pods that have been ready for minReadySeconds.
    #[field(proto = 5)]
    pub available_replicas: i32,
    /// Number of terminating pods: marked for deletion but not stopped yet.
    #[field(proto = 7)]
    pub terminating_replicas: Option<i32>,
    /// Generation of the set that the status describes.
    #[field(proto = 3)]
    pub observed_generation: i64,
    /// Conditions, for example about pods that could not be created or deleted.
    #[field(proto = 6, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<ReplicaSetCondition>,
}

/// A condition of a replica set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ReplicaSetCondition {
    /// Type of the condition, such as ReplicaFailure.
    #[field(name = "type", proto = 1, keep, go_type = "ReplicaSetConditionType")]
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

impl Strategy for ReplicaSet {
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
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
        check_unchanged(self.spec.selector.as_ref(), old.spec.selector.as_ref(), errors);
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        self.status.check(&mut errors.at("status"));
    }

    fn warnings_on_create(&self) -> Vec<String> {
        template_warnings(&self.metadata, &self.spec.template, None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        template_warnings(&self.metadata, &self.spec.template, Some(old.metadata.generation))
    }
}

impl StrategyExtensions for ReplicaSet {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn prepare_bookmark(&mut self) {
        self.spec.replicas = Some(0);
    }
}

impl ReplicaSetSpec {
    /// Sets the defaults.
    pub(crate) fn set_defaults(&mut self) {
        self.replicas.get_or_insert(1);
        self.template.set_defaults();
    }

    fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        check_from_zero("replicas", self.replicas, errors);
        check_from_zero("minReadySeconds", self.min_ready_seconds, errors);
        // The message names deployments, which create nearly all replica sets.
        check_template(
            self.selector.as_ref(),
            (&self.template, old.map(|old| &old.template)),
            "deployment",
            "ReplicaSet",
            errors,
        );
    }
}

impl ReplicaSetStatus {
    fn check(&self, errors: &mut FieldErrors) {
        check_from_zero("replicas", self.replicas, errors);
        check_from_zero("fullyLabeledReplicas", self.fully_labeled_replicas, errors);
        check_from_zero("readyReplicas", self.ready_replicas, errors);
        check_from_zero("availableReplicas", self.available_replicas, errors);
        check_from_zero("terminatingReplicas", self.terminating_replicas, errors);
        check_from_zero("observedGeneration", self.observed_generation, errors);
        let all = (self.replicas, "status.replicas");
        check_at_most("fullyLabeledReplicas", self.fully_labeled_replicas, all, errors);
        check_at_most("readyReplicas", self.ready_replicas, all, errors);
        check_at_most("availableReplicas", self.available_replicas, all, errors);
        let ready = (self.ready_replicas, "readyReplicas");
        check_at_most("availableReplicas", self.available_replicas, ready, errors);
    }
}
