//! `batch/v1`: jobs and cron jobs.

mod cron_job;
mod job;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use cron_job::{CronJob, CronJobSpec, CronJobStatus, JobTemplateSpec};
pub use job::{
    Job, JobCondition, JobSpec, JobStatus, PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule, SuccessPolicy, SuccessPolicyRule,
    UncountedTerminatedPods,
};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_400, 15);
