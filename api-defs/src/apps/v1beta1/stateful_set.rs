//! Stateful sets in v1beta1, which take the default selector from the template and replace pods on deletion only.

use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::apps::v1;
use crate::apps::v1::{
    StatefulSetCondition, StatefulSetOrdinals, StatefulSetPersistentVolumeClaimRetentionPolicy,
    StatefulSetUpdateStrategy,
};
use crate::core::v1::workload::old_labels::{default_from_template, keeps_labels};
use crate::core::v1::{EmbeddedPersistentVolumeClaim, PodTemplateSpec};

/// Runs pods with stable names and storage.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1beta1",
    short("sts"),
    categories("all"),
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    name_rule = dns_label,
    unserved,
    storage_version = v1::StatefulSet,
    convert,
    strategy
)]
pub struct StatefulSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: StatefulSetSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: StatefulSetStatus,
}

/// Desired state of a stateful set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetSpec {
    /// Desired number of pods.
    #[field(proto = 1)]
    pub replicas: Option<i32>,
    /// Labels of the pods that belong to the set. The labels of the template when absent.
    #[field(proto = 2)]
    pub selector: Option<LabelSelector>,
    /// Template of the pods.
    #[field(proto = 3, keep)]
    pub template: PodTemplateSpec,
    /// Templates of claims that are created for each pod.
    #[field(proto = 4, list_type = atomic)]
    pub volume_claim_templates: Vec<EmbeddedPersistentVolumeClaim>,
    /// Name of the service for the DNS names of the pods.
    #[field(proto = 5, keep, optional)]
    pub service_name: String,
    /// Order of creating and deleting pods: one after the other or all in parallel.
    #[field(proto = 6, known("OrderedReady", "Parallel"), go_type = "PodManagementPolicyType")]
    pub pod_management_policy: String,
    /// Strategy to replace pods after the template changed.
    #[field(proto = 7)]
    pub update_strategy: StatefulSetUpdateStrategy,
    /// Number of old revisions that are kept.
    #[field(proto = 8)]
    pub revision_history_limit: Option<i32>,
    /// Minimum time in seconds that a new pod must be ready to count as available.
    #[field(proto = 9)]
    pub min_ready_seconds: i32,
    /// Retention of the claims of deleted pods.
    #[field(proto = 10)]
    pub persistent_volume_claim_retention_policy: Option<StatefulSetPersistentVolumeClaimRetentionPolicy>,
    /// Numbering of the pods.
    #[field(proto = 11)]
    pub ordinals: Option<StatefulSetOrdinals>,
}

/// Observed state of a stateful set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetStatus {
    /// Generation of the set that the status describes.
    #[field(proto = 1)]
    pub observed_generation: Option<i64>,
    /// Number of pods.
    #[field(proto = 2, keep)]
    pub replicas: i32,
    /// Number of non-terminating pods that are ready.
    #[field(proto = 3)]
    pub ready_replicas: i32,
    /// Number of pods of the old revision.
    #[field(proto = 4)]
    pub current_replicas: i32,
    /// Number of pods of the new revision.
    #[field(proto = 5)]
    pub updated_replicas: i32,
    /// Revision of pods that have not been updated yet.
    #[field(proto = 6)]
    pub current_revision: String,
    /// Revision of pods that have been updated.
    #[field(proto = 7)]
    pub update_revision: String,
    /// Number of name collisions of new revisions.
    #[field(proto = 9)]
    pub collision_count: Option<i32>,
    /// Further conditions of the stateful set.
    #[field(proto = 10, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<StatefulSetCondition>,
    /// Number of pods that have been ready for minReadySeconds.
    #[field(proto = 11, keep, optional)]
    pub available_replicas: i32,
}

impl Strategy for StatefulSet {
    fn set_defaults(&mut self) {
        let spec = &mut self.spec;
        default_from_template(&spec.template.metadata.labels, &mut self.metadata, &mut spec.selector);
        if spec.pod_management_policy.is_empty() {
            "OrderedReady".clone_into(&mut spec.pod_management_policy);
        }
        spec.update_strategy.set_defaults("OnDelete");
        let policy = &mut spec.persistent_volume_claim_retention_policy;
        policy.get_or_insert_default().set_defaults();
        spec.replicas.get_or_insert(1);
        spec.revision_history_limit.get_or_insert(10);
        spec.template.set_defaults();
        for claim in &mut spec.volume_claim_templates {
            claim.set_defaults();
        }
    }
}

impl Convert<v1::StatefulSet> for StatefulSet {
    fn finish_to_hub(&self, _hub: &mut v1::StatefulSet) {}

    fn finish_from_hub(&mut self, _hub: &v1::StatefulSet) {}

    fn can_hold(hub: &v1::StatefulSet) -> bool {
        keeps_labels(&hub.metadata, &hub.spec.template)
    }
}
