//! How far a job is.

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JobStatus {
    /// What became of the job. Complete and Failed are its end, one of them at most; SuccessCriteriaMet and FailureTarget
    /// tell that it comes to such an end; Suspended that it rests.
    #[field(proto = 1, list_type = atomic, patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<JobCondition>,
    /// When the controller began; when it was resumed, after a suspension.
    #[field(proto = 2)]
    pub start_time: Option<Time>,
    /// When the job was done; only with the condition Complete.
    #[field(proto = 3)]
    pub completion_time: Option<Time>,
    /// How many pods wait or run that are not on their way out.
    #[field(proto = 4)]
    pub active: i32,
    /// How many pods have succeeded.
    #[field(proto = 5)]
    pub succeeded: i32,
    /// How many pods have failed.
    #[field(proto = 6)]
    pub failed: i32,
    /// How many pods are on their way out: marked for deletion and not yet finished.
    #[field(proto = 11)]
    pub terminating: Option<i32>,
    /// The indexes that succeeded, in order and joined to ranges: 1,3-5,7.
    #[field(proto = 7)]
    pub completed_indexes: String,
    /// The indexes that failed, in the same form; only with backoffLimitPerIndex.
    #[field(proto = 10)]
    pub failed_indexes: Option<String>,
    /// Pods that have ended and are not in the counts yet.
    #[field(proto = 8)]
    pub uncounted_terminated_pods: Option<UncountedTerminatedPods>,
    /// How many of the active pods are ready.
    #[field(proto = 9)]
    pub ready: Option<i32>,
}

/// One thing that became of a job.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JobCondition {
    /// Which: Complete, Failed, FailureTarget, SuccessCriteriaMet or Suspended.
    #[field(name = "type", proto = 1, keep, go_type = "JobConditionType")]
    pub type_: String,
    /// Whether it holds: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "v1.ConditionStatus")]
    pub status: String,
    /// When the condition was last looked at.
    #[field(proto = 3)]
    pub last_probe_time: Time,
    /// When the status last changed.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// One word for programs on why it last changed.
    #[field(proto = 5)]
    pub reason: String,
    /// Explanation of the last change for people to read; its wording may differ between releases.
    #[field(proto = 6)]
    pub message: String,
}

/// Pods that have ended and are not counted yet: each is removed from here in the step that counts it, so that none is
/// counted twice.
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
    /// Whether a condition holds.
    pub(super) fn is(&self, type_: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| condition.type_ == type_ && condition.status == "True")
    }

    /// Whether a condition is said not to hold.
    pub(super) fn is_not(&self, type_: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| condition.type_ == type_ && condition.status == "False")
    }

    /// Whether the job has come to an end.
    pub(super) fn is_finished(&self) -> bool {
        self.is("Complete") || self.is("Failed")
    }
}
