//! Which pods of a stateful set there are.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::time::Time;

use crate::workload::counts::{check_at_most, check_from_zero};

/// Which pods of a stateful set there are.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetStatus {
    /// Generation of the set that this tells about.
    #[field(proto = 1)]
    pub observed_generation: i64,
    /// How many pods there are.
    #[field(proto = 2, keep)]
    pub replicas: i32,
    /// How many of them are ready.
    #[field(proto = 3)]
    pub ready_replicas: i32,
    /// How many of them have the template that currentRevision names.
    #[field(proto = 4)]
    pub current_replicas: i32,
    /// How many of them have the template that updateRevision names.
    #[field(proto = 5)]
    pub updated_replicas: i32,
    /// The template that pods have which were not replaced yet, by the name of its revision.
    #[field(proto = 6)]
    pub current_revision: String,
    /// The template that pods have which were replaced, by the name of its revision.
    #[field(proto = 7)]
    pub update_revision: String,
    /// How often the name of a new revision was taken; the controller makes the next name from it.
    #[field(proto = 9)]
    pub collision_count: Option<i32>,
    /// What else the controller has to say.
    #[field(proto = 10, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<StatefulSetCondition>,
    /// How many pods have been ready for minReadySeconds.
    #[field(proto = 11, keep, optional)]
    pub available_replicas: i32,
}

/// One aspect of how a stateful set fares.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatefulSetCondition {
    /// Which aspect of the stateful set this is about. Kubernetes itself reports none; the field is for other
    /// controllers.
    #[field(name = "type", proto = 1, keep, go_type = "StatefulSetConditionType")]
    pub type_: String,
    /// Whether it holds: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "v1.ConditionStatus")]
    pub status: String,
    /// When the status last changed.
    #[field(proto = 3)]
    pub last_transition_time: Time,
    /// One word for programs on why it last changed.
    #[field(proto = 4)]
    pub reason: String,
    /// Explanation of the last change for people to read; its wording may differ between releases.
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
