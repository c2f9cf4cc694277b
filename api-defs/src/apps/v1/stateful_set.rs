//! Pods that keep a name and storage of their own.

mod check;
mod columns;
mod status;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::rules::{Rules, UpdateStep, update_order};
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::{EmbeddedPersistentVolumeClaim, PodTemplateSpec};
use crate::features::MAX_UNAVAILABLE_STATEFUL_SET;
use crate::workload::counts::check_collisions;
use crate::workload::template::unnamed_template_warnings;

pub use status::{StatefulSetCondition, StatefulSetStatus};

/// Keeps a number of pods running that each have a number, and with it a name, an address and storage of their own that
/// outlive the pod.
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
    rules
)]
#[resource(
    column(name),
    column(name = "Ready", type = "string", doc = "Ready pods of those wanted.", with = columns::ready),
    column(age),
    column(name = "Containers", type = "string", doc = "Names of the containers in the template.", priority = 1, with = columns::containers),
    column(name = "Images", type = "string", doc = "Images of the containers in the template.", priority = 1, with = columns::images)
)]
pub struct StatefulSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Which pods are wanted, and how they are replaced.
    #[field(proto = 2)]
    pub spec: StatefulSetSpec,
    /// Which pods there are. May lag behind.
    #[field(proto = 3)]
    pub status: StatefulSetStatus,
}

/// What is wanted of a stateful set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetSpec {
    /// How many pods are wanted; 1 when absent. Each has a number, counted from the start in ordinals.
    #[field(proto = 1)]
    pub replicas: Option<i32>,
    /// Which pods belong to the set. Must match the labels of the template, and cannot change.
    #[field(proto = 2, keep)]
    pub selector: Option<LabelSelector>,
    /// What the pods look like; each is named after the set and its number. They are always restarted: no other
    /// restartPolicy than Always is allowed.
    #[field(proto = 3, keep)]
    pub template: PodTemplateSpec,
    /// Claims that each pod gets for itself, and that stay when the pod goes. A claim stands for the volume of its name in
    /// the template, before one that the template has. Cannot change.
    #[field(proto = 4, list_type = atomic)]
    pub volume_claim_templates: Vec<EmbeddedPersistentVolumeClaim>,
    /// The service that gives the pods their addresses, which must be there before them: pod-number.serviceName.
    /// Cannot change.
    #[field(proto = 5, keep, optional)]
    pub service_name: String,
    /// OrderedReady, the default, makes pods one after the other, each once the one before is ready, and removes them
    /// from the last; Parallel makes and removes all at once. Cannot change.
    #[field(proto = 6, known("OrderedReady", "Parallel"), go_type = "PodManagementPolicyType")]
    pub pod_management_policy: String,
    /// How pods of an old template make way for those of a new one.
    #[field(proto = 7)]
    pub update_strategy: StatefulSetUpdateStrategy,
    /// How many old templates are kept so that one can roll back; 10 when absent.
    #[field(proto = 8)]
    pub revision_history_limit: Option<i32>,
    /// For how many seconds a new pod must be ready, without any of its containers crashing, until it counts as
    /// available. 0 counts it at once.
    #[field(proto = 9)]
    pub min_ready_seconds: i32,
    /// What becomes of the claims of pods that are gone. They stay when absent.
    #[field(proto = 10)]
    pub persistent_volume_claim_retention_policy: Option<StatefulSetPersistentVolumeClaimRetentionPolicy>,
    /// How the pods are numbered: from 0 when absent.
    #[field(proto = 11)]
    pub ordinals: Option<StatefulSetOrdinals>,
}

/// How pods of an old template make way for those of a new one.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetUpdateStrategy {
    /// OnDelete replaces a pod only after somebody has deleted it; RollingUpdate, the default, replaces all by itself, from
    /// the last to the first.
    #[field(
        name = "type",
        proto = 1,
        known("RollingUpdate", "OnDelete"),
        go_type = "StatefulSetUpdateStrategyType"
    )]
    pub type_: String,
    /// Which pods and how many at a time; only for RollingUpdate.
    #[field(proto = 2)]
    pub rolling_update: Option<RollingUpdateStatefulSetStrategy>,
}

/// Which pods a stateful set replaces.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RollingUpdateStatefulSetStrategy {
    /// The lowest number that is replaced; pods below keep the old template. 0 when absent.
    #[field(proto = 1)]
    pub partition: Option<i32>,
    /// How many pods may be missing meanwhile: a number, or a percentage of those wanted, rounded up. 1 when absent. An
    /// optional feature that is not switched on here: what is given is dropped.
    #[field(proto = 2)]
    pub max_unavailable: Option<IntOrString>,
}

/// What becomes of the claims of pods that are gone.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetPersistentVolumeClaimRetentionPolicy {
    /// When the set is deleted: Retain, the default, keeps the claims; Delete deletes them.
    #[field(proto = 1, go_type = "PersistentVolumeClaimRetentionPolicyType")]
    pub when_deleted: String,
    /// When fewer replicas are wanted: Retain, the default, keeps the claims of the others; Delete deletes them.
    #[field(proto = 2, go_type = "PersistentVolumeClaimRetentionPolicyType")]
    pub when_scaled: String,
}

/// How the pods of a stateful set are numbered.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetOrdinals {
    /// The number of the first pod.
    #[field(proto = 1, keep, optional)]
    pub start: i32,
}

const UNLIMITED_HISTORY: &str = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value \
                                 >= 0 is recommended";

impl Rules for StatefulSet {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn prepare_bookmark(&mut self) {
        self.spec.replicas = Some(0);
    }

    fn default_values(&mut self) {
        self.spec.default_values();
    }

    fn prepare_create(&mut self) {
        self.spec.template.drop_disabled(None);
        self.spec.update_strategy.drop_max_unavailable(None);
    }

    fn prepare_update(&mut self, old: &Self) {
        self.spec.template.drop_disabled(Some(&old.spec.template));
        self.spec
            .update_strategy
            .drop_max_unavailable(Some(&old.spec.update_strategy));
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

    fn warnings(&self, old: Option<&Self>) -> Vec<String> {
        let old = old.map(|old| old.metadata.generation);
        let mut warnings = unnamed_template_warnings(&self.metadata, &self.spec.template, old);
        // Clients see these paths as they are: one without the spec, and one with its name in Go.
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
    /// Fills in what a client left out.
    pub(crate) fn default_values(&mut self) {
        if self.pod_management_policy.is_empty() {
            "OrderedReady".clone_into(&mut self.pod_management_policy);
        }
        self.update_strategy.default_values("RollingUpdate");
        let policy = &mut self.persistent_volume_claim_retention_policy;
        policy.get_or_insert_default().default_values();
        self.replicas.get_or_insert(1);
        self.revision_history_limit.get_or_insert(10);
        self.template.default_values();
        for claim in &mut self.volume_claim_templates {
            claim.default_values();
        }
    }
}

impl StatefulSetPersistentVolumeClaimRetentionPolicy {
    /// Fills in what a client left out: claims stay.
    pub(crate) fn default_values(&mut self) {
        for choice in [&mut self.when_deleted, &mut self.when_scaled] {
            if choice.is_empty() {
                "Retain".clone_into(choice);
            }
        }
    }
}

impl StatefulSetUpdateStrategy {
    /// Fills in the strategy; `type_` is the usual one.
    pub(crate) fn default_values(&mut self, type_: &str) {
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

    /// Forgets an amount that belongs to a feature which is not switched on, unless it was stored before.
    fn drop_max_unavailable(&mut self, old: Option<&Self>) {
        let amount = |strategy: &Self| strategy.rolling_update.as_ref()?.max_unavailable.clone();
        if !MAX_UNAVAILABLE_STATEFUL_SET.is_on()
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
        let created = set.warnings(None);
        assert_eq!(created, [fraction(claim), UNLIMITED_HISTORY.to_owned()]);
        let updated = set.warnings(Some(&set));
        assert_eq!(
            updated,
            [fraction(&format!("{claim}.Spec")), UNLIMITED_HISTORY.to_owned()]
        );
    }
}
