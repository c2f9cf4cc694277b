//! `batch/v1`: jobs and cron jobs.

mod cron_job;
mod job;

pub use cron_job::{CronJob, CronJobSpec, CronJobStatus, JobTemplateSpec};
pub use job::{
    Job, JobCondition, JobSpec, JobStatus, PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule, SuccessPolicy, SuccessPolicyRule,
    UncountedTerminatedPods,
};
