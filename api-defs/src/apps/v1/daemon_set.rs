//! Daemon sets: one pod on each matching node.

mod check;
mod columns;
mod template_generation;

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
use crate::core::v1::workload::template::unnamed_template_warnings;

pub(crate) use template_generation::{TEMPLATE_GENERATION, set_template_generation, template_generation};

/// Runs one pod on each node that the template allows.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1",
    short("ds"),
    categories("all"),
    status,
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Desired", type = "integer", doc = "Number of nodes that should run a pod.", with = columns::desired),
    column(name = "Current", type = "integer", doc = "Number of nodes with a pod.", with = columns::current),
    column(name = "Ready", type = "integer", doc = "Number of nodes with a ready pod.", with = columns::ready),
    column(name = "Up-to-date", type = "integer", doc = "Number of nodes with a pod of the current template.", with = columns::updated),
    column(name = "Available", type = "integer", doc = "Number of nodes with an available pod.", with = columns::available),
    column(name = "Node Selector", type = "string", doc = "Node selector.", with = columns::node_selector),
    column(age),
    column(name = "Containers", type = "string", doc = "Names of the containers in the template.", priority = 1, with = columns::containers),
    column(name = "Images", type = "string", doc = "Images of the containers in the template.", priority = 1, with = columns::images),
    column(name = "Selector", type = "string", doc = "Selector of the pods.", priority = 1, with = columns::selector)
)]
pub struct DaemonSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired pods and the strategy to replace them.
    #[field(proto = 2)]
    pub spec: DaemonSetSpec,
    /// Observed state, as numbers of nodes. May lag behind the actual state.
    #[field(proto = 3)]
    pub status: DaemonSetStatus,
}

/// Desired state of a daemon set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DaemonSetSpec {
    /// Labels of the pods that belong to the daemon set. Must match the labels of the template. Immutable.
    #[field(proto = 1, keep)]
    pub selector: Option<LabelSelector>,
    /// Template of the pods. One pod runs on each node that the template's nodeSelector and affinity allow, or on every
    /// node without them. The restartPolicy must be Always.
    #[field(proto = 2, keep)]
    pub template: PodTemplateSpec,
    /// Strategy to replace pods after the template changed.
    #[field(proto = 3)]
    pub update_strategy: DaemonSetUpdateStrategy,
    /// Minimum time in seconds that a new pod must be ready, without any container crashing, to count as available. 0
    /// counts it at once.
    #[field(proto = 4)]
    pub min_ready_seconds: i32,
    /// Number of old revisions that are kept for rollbacks. 10 when absent.
    #[field(proto = 6)]
    pub revision_history_limit: Option<i32>,
}

/// Strategy to replace the pods of a daemon set after its template changed.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DaemonSetUpdateStrategy {
    /// Type of the strategy: OnDelete replaces a pod only after it has been deleted manually; RollingUpdate (the
    /// default) replaces all pods, a few at a time.
    #[field(
        name = "type",
        proto = 1,
        known("RollingUpdate", "OnDelete"),
        go_type = "DaemonSetUpdateStrategyType"
    )]
    pub type_: String,
    /// Parameters of a rolling update. Only for the type RollingUpdate.
    #[field(proto = 2)]
    pub rolling_update: Option<RollingUpdateDaemonSet>,
}

/// Parameters of a daemon set's rolling update. Exactly one of the two amounts is 0.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(internal = crate::apps::v1::internal_layout::ROLLING_UPDATE)]
pub struct RollingUpdateDaemonSet {
    /// Maximum number of nodes without an available pod during an update: a number, or a percentage of the nodes that
    /// should run one, rounded up. The old pod is deleted before the new one is created. 1 when absent.
    #[field(proto = 1)]
    pub max_unavailable: Option<IntOrString>,
    /// Maximum number of nodes with two pods during an update: a number, or a percentage of the nodes that should run
    /// one, rounded up. The old pod is deleted after the new one is available. 0 when absent.
    #[field(proto = 2)]
    pub max_surge: Option<IntOrString>,
}

/// Observed state of a daemon set, as numbers of nodes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DaemonSetStatus {
    /// Number of nodes that run a pod of the set and should run one.
    #[field(proto = 1, keep)]
    pub current_number_scheduled: i32,
    /// Number of nodes that run a pod of the set but should not.
    #[field(proto = 2, keep)]
    pub number_misscheduled: i32,
    /// Number of nodes that should run a pod of the set, including those that already do.
    #[field(proto = 3, keep)]
    pub desired_number_scheduled: i32,
    /// Number of nodes that should run a pod and have one that is ready.
    #[field(proto = 4, keep)]
    pub number_ready: i32,
    /// Generation of the set that the status describes.
    #[field(proto = 5)]
    pub observed_generation: i64,
    /// Number of nodes that run a pod of the current template.
    #[field(proto = 6)]
    pub updated_number_scheduled: i32,
    /// Number of nodes that should run a pod and have one that has been ready for minReadySeconds.
    #[field(proto = 7)]
    pub number_available: i32,
    /// Number of nodes that should run a pod but have none that has been ready for minReadySeconds.
    #[field(proto = 8)]
    pub number_unavailable: i32,
    /// Number of name collisions of new revisions. The controller derives the next name from it.
    #[field(proto = 9)]
    pub collision_count: Option<i32>,
    /// Further conditions of the daemon set.
    #[field(proto = 10, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<DaemonSetCondition>,
}

/// A condition of a daemon set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DaemonSetCondition {
    /// Type of the condition. Kubernetes itself reports none for daemon sets; the field is for other controllers.
    #[field(name = "type", proto = 1, keep, go_type = "DaemonSetConditionType")]
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

impl Strategy for DaemonSet {
    fn set_defaults(&mut self) {
        let generation = template_generation(&self.metadata);
        set_template_generation(&mut self.metadata, generation);
        self.spec.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.spec.template.drop_disabled(None, context.features);
        let generation = template_generation(&self.metadata).max(1);
        set_template_generation(&mut self.metadata, generation);
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        self.spec
            .template
            .drop_disabled(Some(&old.spec.template), context.features);
        let changed = self.spec.template != old.spec.template;
        let generation = template_generation(&old.metadata) + i64::from(changed);
        set_template_generation(&mut self.metadata, generation);
    }

    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        set_template_generation(&mut self.metadata, template_generation(&old.metadata));
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.check(None, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        check_unchanged(self.spec.selector.as_ref(), old.spec.selector.as_ref(), errors);
        self.check(Some(old), errors);
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("status");
        self.status.check(errors);
        check_collisions(self.status.collision_count, old.status.collision_count, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        unnamed_template_warnings(&self.metadata, &self.spec.template, None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        unnamed_template_warnings(&self.metadata, &self.spec.template, Some(old.metadata.generation))
    }
}

impl StrategyExtensions for DaemonSet {
    const HIDDEN_ANNOTATIONS: &'static [&'static str] = &[TEMPLATE_GENERATION];
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn conversion_problem(&self) -> Option<String> {
        let generation = self.metadata.annotations.get(TEMPLATE_GENERATION)?;
        parse_int(generation).err()
    }

    fn prepare_bookmark(&mut self) {
        set_template_generation(&mut self.metadata, 0);
    }
}

impl DaemonSet {
    fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let generation = template_generation(&self.metadata);
        let old = old.map(|old| &old.spec);
        self.spec.check(old, generation, &mut errors.at("spec"));
    }
}

impl DaemonSetSpec {
    /// Sets the defaults.
    pub(crate) fn set_defaults(&mut self) {
        self.update_strategy.set_defaults("RollingUpdate");
        self.revision_history_limit.get_or_insert(10);
        self.template.set_defaults();
    }
}

impl DaemonSetUpdateStrategy {
    /// Sets the defaults of the strategy; `type_` is the version's default type.
    pub(crate) fn set_defaults(&mut self, type_: &str) {
        if self.type_.is_empty() {
            type_.clone_into(&mut self.type_);
        }
        if self.type_ == "RollingUpdate" {
            let rolling = self.rolling_update.get_or_insert_default();
            rolling.max_unavailable.get_or_insert(IntOrString::Int(1));
            rolling.max_surge.get_or_insert(IntOrString::Int(0));
        }
    }
}
