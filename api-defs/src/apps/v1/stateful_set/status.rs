//! Observed state of stateful sets.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::time::Time;

use crate::core::v1::workload::counts::{check_at_most, check_from_zero};

/// Observed state of a stateful set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetStatus {
    /// Generation of the set that the status describes.
    #[field(proto = 1)]
    pub observed_generation: i64,
    /// Number of pods.
    #[field(proto = 2, keep)]
    pub replicas: i32,
    /// Number of non-terminating pods that are ready.
    #[field(proto = 3)]
    pub ready_replicas: i32,
    /// Number of pods of the revision that currentRevision names.
    #[field(proto = 4)]
    pub current_replicas: i32,
    /// Number of pods of the revision that updateRevision names.
    #[field(proto = 5)]
    pub updated_replicas: i32,
    /// Revision of pods that have not been updated yet.
    #[field(proto = 6)]
    pub current_revision: String,
    /// Revision of pods that have been updated.
    #[field(proto = 7)]
    pub update_revision: String,
    /// Number of name collisions of new revisions. The controller derives the next name from it.
    #[field(proto = 9)]
    pub collision_count: Option<i32>,
    /// Further conditions of the stateful set.
    #[field(proto = 10, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<StatefulSetCondition>,
    /// Number of pods that have been ready for minReadySeconds.
    #[field(proto = 11, keep, optional)]
    pub available_replicas: i32,
}

/// A condition of a stateful set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetCondition {
    /// Type of the condition. Kubernetes itself reports none for stateful sets; the field is for other controllers.
    #[field(name = "type", proto = 1, keep, go_type = "StatefulSetConditionType")]
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

impl StatefulSetStatus {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_from_zero("replicas", self.replicas, errors);
        check_from_zero("readyReplicas", self.ready_replicas, errors);
        check_from_zero("currentReplicas", self.current_replicas, errors);
        check_from_zero("updatedReplicas", self.updated_replicas, errors);
        check_from_zero("availableReplicas", self.available_replicas, errors);
        check_from_zero("observedGeneration", self.observed_generation, errors);
        check_from_zero("collisionCount", self.collision_count, errors);
        let all = (self.replicas, "status.replicas");
        check_at_most("readyReplicas", self.ready_replicas, all, errors);
        check_at_most("currentReplicas", self.current_replicas, all, errors);
        check_at_most("updatedReplicas", self.updated_replicas, all, errors);
        check_at_most("availableReplicas", self.available_replicas, all, errors);
        let ready = (self.ready_replicas, "status.readyReplicas");
        check_at_most("availableReplicas", self.available_replicas, ready, errors);
    }
}
