//! Observed state of jobs.

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

/// Observed state of a job.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JobStatus {
    /// Conditions. At most one of Complete and Failed is True, and both are final. SuccessCriteriaMet and FailureTarget
    /// announce them; Suspended reports a suspension.
    #[field(proto = 1, list_type = atomic, patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<JobCondition>,
    /// Time when the controller started the job. Reset when a suspended job is resumed.
    #[field(proto = 2)]
    pub start_time: Option<Time>,
    /// Time when the job completed. Only set with the condition Complete.
    #[field(proto = 3)]
    pub completion_time: Option<Time>,
    /// Number of pending and running pods that are not terminating.
    #[field(proto = 4)]
    pub active: i32,
    /// Number of pods that succeeded.
    #[field(proto = 5)]
    pub succeeded: i32,
    /// Number of pods that failed.
    #[field(proto = 6)]
    pub failed: i32,
    /// Number of terminating pods: marked for deletion but not stopped yet.
    #[field(proto = 11)]
    pub terminating: Option<i32>,
    /// Indexes that succeeded, sorted and with ranges: 1,3-5,7.
    #[field(proto = 7)]
    pub completed_indexes: String,
    /// Indexes that failed, in the same format. Only set with backoffLimitPerIndex.
    #[field(proto = 10)]
    pub failed_indexes: Option<String>,
    /// Terminated pods that the counters do not include yet.
    #[field(proto = 8)]
    pub uncounted_terminated_pods: Option<UncountedTerminatedPods>,
    /// Number of active pods that are ready.
    #[field(proto = 9)]
    pub ready: Option<i32>,
}

/// A condition of a job.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JobCondition {
    /// Type of the condition: Complete, Failed, FailureTarget, SuccessCriteriaMet or Suspended.
    #[field(name = "type", proto = 1, keep, go_type = "JobConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "v1.ConditionStatus")]
    pub status: String,
    /// Time of the last probe of the condition.
    #[field(proto = 3)]
    pub last_probe_time: Time,
    /// Time of the last change of status.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 5)]
    pub reason: String,
    /// Human-readable explanation of the last transition. Its text may differ between releases.
    #[field(proto = 6)]
    pub message: String,
}

/// Terminated pods that the counters do not include yet. A pod is removed from here in the same update that counts it,
/// so that no pod is counted twice.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct UncountedTerminatedPods {
    /// UIDs of pods that succeeded.
    #[field(proto = 1, list_type = set, go_type = "[]types.UID")]
    pub succeeded: Vec<String>,
    /// UIDs of pods that failed.
    #[field(proto = 2, list_type = set, go_type = "[]types.UID")]
    pub failed: Vec<String>,
}

impl JobStatus {
    /// True if the condition `type_` has status True.
    pub(super) fn is(&self, type_: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| condition.type_ == type_ && condition.status == "True")
    }

    /// True if the condition `type_` has status False.
    pub(super) fn is_not(&self, type_: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| condition.type_ == type_ && condition.status == "False")
    }

    /// True if the job has completed or failed.
    pub(super) fn is_finished(&self) -> bool {
        self.is("Complete") || self.is("Failed")
    }
}
