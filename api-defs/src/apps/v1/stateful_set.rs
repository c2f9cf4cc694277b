//! Stateful sets: pods with stable names and storage.

mod check;
mod columns;
mod status;

use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::workload::counts::check_collisions;
use crate::core::v1::workload::template::unnamed_template_warnings;
use crate::core::v1::{EmbeddedPersistentVolumeClaim, PodTemplateSpec};
use crate::features::MAX_UNAVAILABLE_STATEFUL_SET;

pub use status::{StatefulSetCondition, StatefulSetStatus};

/// Runs a number of pods with ordinals. Each ordinal has a stable name, network address and storage, which outlive the
/// pod.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1",
    short("sts"),
    categories("all"),
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    name_rule = dns_label,
    generation,
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Ready", type = "string", doc = "Ready and desired pods.", with = columns::ready),
    column(age),
    column(name = "Containers", type = "string", doc = "Names of the containers in the template.", priority = 1, with = columns::containers),
    column(name = "Images", type = "string", doc = "Images of the containers in the template.", priority = 1, with = columns::images)
)]
pub struct StatefulSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired pods and the strategy to replace them.
    #[field(proto = 2)]
    pub spec: StatefulSetSpec,
    /// Observed state. May lag behind the actual state.
    #[field(proto = 3)]
    pub status: StatefulSetStatus,
}

/// Desired state of a stateful set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetSpec {
    /// Desired number of pods. 1 when absent. Each pod has an ordinal, counted from ordinals.start.
    #[field(proto = 1)]
    pub replicas: Option<i32>,
    /// Labels of the pods that belong to the daemon set. Must match the labels of the template. Immutable.
    #[field(proto = 2, keep)]
    pub selector: Option<LabelSelector>,
    /// Template of the pods. Each pod is named after the set and its ordinal. The restartPolicy must be Always.
    #[field(proto = 3, keep)]
    pub template: PodTemplateSpec,
    /// Templates of claims that are created for each pod and that outlive it. A claim replaces a volume of the same
    /// name in the template. Immutable.
    #[field(proto = 4, list_type = atomic)]
    pub volume_claim_templates: Vec<EmbeddedPersistentVolumeClaim>,
    /// Name of the headless service for the DNS names of the pods, pod-ordinal.serviceName. It must exist before the
    /// pods. Immutable.
    #[field(proto = 5, keep, optional)]
    pub service_name: String,
    /// Order of pod management: OrderedReady (the default) creates each pod after the preceding one is ready and
    /// deletes them in reverse order; Parallel creates and deletes all at once. Immutable.
    #[field(proto = 6, known("OrderedReady", "Parallel"), go_type = "PodManagementPolicyType")]
    pub pod_management_policy: String,
    /// Strategy to replace pods after the template changed.
    #[field(proto = 7)]
    pub update_strategy: StatefulSetUpdateStrategy,
    /// Number of old revisions that are kept for rollbacks. 10 when absent.
    #[field(proto = 8)]
    pub revision_history_limit: Option<i32>,
    /// Minimum time in seconds that a new pod must be ready, without any container crashing, to count as available. 0
    /// counts it at once.
    #[field(proto = 9)]
    pub min_ready_seconds: i32,
    /// Retention of the claims of deleted pods. The claims are retained when absent.
    #[field(proto = 10)]
    pub persistent_volume_claim_retention_policy: Option<StatefulSetPersistentVolumeClaimRetentionPolicy>,
    /// Numbering of the pods. Starts at 0 when absent.
    #[field(proto = 11)]
    pub ordinals: Option<StatefulSetOrdinals>,
}

/// Strategy to replace the pods of a stateful set after its template changed.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetUpdateStrategy {
    /// Type of the strategy: OnDelete replaces a pod only after it has been deleted manually; RollingUpdate (the
    /// default) replaces all pods, from the highest ordinal to the lowest.
    #[field(
        name = "type",
        proto = 1,
        known("RollingUpdate", "OnDelete"),
        go_type = "StatefulSetUpdateStrategyType"
    )]
    pub type_: String,
    /// Parameters of a rolling update. Only for the type RollingUpdate.
    #[field(proto = 2)]
    pub rolling_update: Option<RollingUpdateStatefulSetStrategy>,
}

/// Parameters of a stateful set's rolling update.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(internal = crate::apps::v1::internal_layout::PARTITIONED_UPDATE)]
pub struct RollingUpdateStatefulSetStrategy {
    /// Lowest ordinal to update. Pods with lower ordinals keep the old revision. 0 when absent.
    #[field(proto = 1)]
    pub partition: Option<i32>,
    /// Maximum number of unavailable pods during an update: a number, or a percentage of the desired pods, rounded up.
    /// 1 when absent. Belongs to a feature that is disabled here: values are dropped.
    #[field(proto = 2)]
    pub max_unavailable: Option<IntOrString>,
}

/// Retention of the claims of deleted pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetPersistentVolumeClaimRetentionPolicy {
    /// Treatment of the claims after the set is deleted: Retain (the default) keeps them, Delete deletes them.
    #[field(proto = 1, go_type = "PersistentVolumeClaimRetentionPolicyType")]
    pub when_deleted: String,
    /// Treatment of the claims of surplus pods after a scale-down: Retain (the default) keeps them, Delete deletes
    /// them.
    #[field(proto = 2, go_type = "PersistentVolumeClaimRetentionPolicyType")]
    pub when_scaled: String,
}

/// Numbering of the pods of a stateful set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetOrdinals {
    /// Ordinal of the first pod.
    #[field(proto = 1, keep, optional)]
    pub start: i32,
}

const UNLIMITED_HISTORY: &str = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value \
                                 >= 0 is recommended";

impl Strategy for StatefulSet {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.spec.template.drop_disabled(None, context.features);
        self.spec.update_strategy.drop_max_unavailable(None, context.features);
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        self.spec
            .template
            .drop_disabled(Some(&old.spec.template), context.features);
        self.spec
            .update_strategy
            .drop_max_unavailable(Some(&old.spec.update_strategy), context.features);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
        self.spec.check_frozen(&old.spec, errors);
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("status");
        self.status.check(errors);
        check_collisions(self.status.collision_count, old.status.collision_count, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        self.warnings_since(None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        self.warnings_since(Some(old))
    }
}

impl StrategyExtensions for StatefulSet {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn prepare_bookmark(&mut self) {
        self.spec.replicas = Some(0);
    }
}

impl StatefulSet {
    /// Returns the warnings about the new object; `old` is absent on create.
    fn warnings_since(&self, old: Option<&Self>) -> Vec<String> {
        let old = old.map(|old| old.metadata.generation);
        let mut warnings = unnamed_template_warnings(&self.metadata, &self.spec.template, old);
        // kube-apiserver reports these paths inconsistently: one without the spec, one with its Go name.
        let inside = if old.is_some() { ".Spec" } else { "" };
        for (index, claim) in self.spec.volume_claim_templates.iter().enumerate() {
            warnings.extend(
                claim
                    .spec
                    .warnings(&format!("spec.volumeClaimTemplates[{index}]{inside}")),
            );
        }
        if self.spec.revision_history_limit.is_some_and(|limit| limit < 0) {
            warnings.push(UNLIMITED_HISTORY.to_owned());
        }
        warnings
    }
}

impl StatefulSetSpec {
    /// Sets the defaults.
    pub(crate) fn set_defaults(&mut self) {
        if self.pod_management_policy.is_empty() {
            "OrderedReady".clone_into(&mut self.pod_management_policy);
        }
        self.update_strategy.set_defaults("RollingUpdate");
        let policy = &mut self.persistent_volume_claim_retention_policy;
        policy.get_or_insert_default().set_defaults();
        self.replicas.get_or_insert(1);
        self.revision_history_limit.get_or_insert(10);
        self.template.set_defaults();
        for claim in &mut self.volume_claim_templates {
            claim.set_defaults();
        }
    }
}

impl StatefulSetPersistentVolumeClaimRetentionPolicy {
    /// Sets the defaults.
    pub(crate) fn set_defaults(&mut self) {
        for choice in [&mut self.when_deleted, &mut self.when_scaled] {
            if choice.is_empty() {
                "Retain".clone_into(choice);
            }
        }
    }
}

impl StatefulSetUpdateStrategy {
    /// Sets the defaults of the strategy; `type_` is the version's default type.
    pub(crate) fn set_defaults(&mut self, type_: &str) {
        if self.type_.is_empty() {
            type_.clone_into(&mut self.type_);
            if type_ == "RollingUpdate" {
                self.rolling_update.get_or_insert_default();
            }
        }
        if self.type_ == "RollingUpdate"
            && let Some(rolling) = &mut self.rolling_update
        {
            rolling.partition.get_or_insert(0);
        }
    }

    /// Drops maxUnavailable if its feature is disabled in `features`, unless the stored object already has it.
    fn drop_max_unavailable(&mut self, old: Option<&Self>, features: &Features) {
        let amount = |strategy: &Self| strategy.rolling_update.as_ref()?.max_unavailable.clone();
        if !features.has(&MAX_UNAVAILABLE_STATEFUL_SET)
            && old.and_then(amount).is_none()
            && let Some(rolling) = &mut self.rolling_update
        {
            rolling.max_unavailable = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn warnings_name_the_claim_and_the_history() {
        let set: StatefulSet = serde_json::from_value(json!({"spec": {
            "revisionHistoryLimit": -1,
            "volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": "1m"}}}}],
        }}))
        .unwrap();
        let fraction = |path: &str| {
            format!("{path}.resources.requests[storage]: fractional byte value \"1m\" is invalid, must be an integer")
        };
        let claim = "spec.volumeClaimTemplates[0]";
        let created = set.warnings_on_create();
        assert_eq!(created, [fraction(claim), UNLIMITED_HISTORY.to_owned()]);
        let updated = set.warnings_on_update(&set);
        assert_eq!(
            updated,
            [fraction(&format!("{claim}.Spec")), UNLIMITED_HISTORY.to_owned()]
        );
    }
}
