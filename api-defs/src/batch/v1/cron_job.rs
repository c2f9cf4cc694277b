//! Cron jobs, which create jobs on a schedule.

mod check;
mod columns;
mod schedule;
mod time_zone;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use super::JobSpec;
use crate::core::v1::ObjectReference;
use crate::core::v1::workload::template::name_warning;

/// Creates jobs on a schedule.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "batch",
    version = "v1",
    short("cj"),
    categories("all"),
    status,
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Schedule", type = "string", doc = "Schedule in Cron format.", path = "spec.schedule"),
    column(name = "Timezone", type = "string", doc = "The time zone of the schedule.", with = columns::time_zone),
    column(name = "Suspend", type = "boolean", doc = "True if the cron job is suspended.", with = columns::suspend),
    column(name = "Active", type = "integer", doc = "Number of active jobs.", with = columns::active),
    column(name = "Last Schedule", type = "string", doc = "Time since a job was last due.", with = columns::last_schedule),
    column(age),
    column(name = "Containers", type = "string", doc = "Names of the containers in the template.", priority = 1, with = columns::containers),
    column(name = "Images", type = "string", doc = "Images of the containers in the template.", priority = 1, with = columns::images),
    column(name = "Selector", type = "string", doc = "Selector of the jobs' pods.", priority = 1, with = columns::selector)
)]
pub struct CronJob {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Template of the jobs and their schedule.
    #[field(proto = 2, expected)]
    pub spec: CronJobSpec,
    /// The active jobs and the times of the last start and the last success.
    #[field(proto = 3)]
    pub status: CronJobStatus,
}

/// Desired jobs and their schedule.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CronJobSpec {
    /// Schedule of the jobs in Cron format: minute, hour, day of the month, month and day of the week, such as
    /// "*/5 * * * *"; or a macro such as @daily.
    #[field(proto = 1, keep)]
    pub schedule: String,
    /// Time zone of the schedule as an IANA name, such as Europe/Paris. The time zone of the controller when absent.
    #[field(proto = 8)]
    pub time_zone: Option<String>,
    /// Maximum delay of a job's start, in seconds. A job that missed this deadline counts as failed. No limit when
    /// absent.
    #[field(proto = 2)]
    pub starting_deadline_seconds: Option<i64>,
    /// Behavior when a job is due while another one still runs: Allow (the default) runs both, Forbid skips the new
    /// job, Replace stops the running job.
    #[field(proto = 3, known("Allow", "Forbid", "Replace"), go_type = "ConcurrencyPolicy")]
    pub concurrency_policy: String,
    /// True to suspend the start of jobs. Running jobs continue.
    #[field(proto = 4)]
    pub suspend: Option<bool>,
    /// Template of the jobs.
    #[field(proto = 5, keep)]
    pub job_template: JobTemplateSpec,
    /// Number of successful jobs that are kept. 3 when absent.
    #[field(proto = 6)]
    pub successful_jobs_history_limit: Option<i32>,
    /// Number of failed jobs that are kept. 1 when absent.
    #[field(proto = 7)]
    pub failed_jobs_history_limit: Option<i32>,
}

/// Template of jobs.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JobTemplateSpec {
    /// Labels and annotations of the jobs.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state of the jobs.
    #[field(proto = 2)]
    pub spec: JobSpec,
}

/// Observed state of a cron job.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CronJobStatus {
    /// References to the jobs of this cron job that are not finished.
    #[field(proto = 1, list_type = atomic)]
    pub active: Vec<ObjectReference>,
    /// Time when the last started job was due.
    #[field(proto = 4)]
    pub last_schedule_time: Option<Time>,
    /// Time of the last successful completion of a job.
    #[field(proto = 5)]
    pub last_successful_time: Option<Time>,
}

impl Strategy for CronJob {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.spec
            .job_template
            .spec
            .template
            .drop_disabled(None, context.features);
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        let old = &old.spec.job_template.spec.template;
        self.spec
            .job_template
            .spec
            .template
            .drop_disabled(Some(old), context.features);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
        self.check_name(errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
    }

    fn warnings_on_create(&self) -> Vec<String> {
        self.warnings_since(None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        self.warnings_since(Some(old))
    }
}

impl StrategyExtensions for CronJob {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl CronJob {
    /// Returns the warnings about the new object; `old` is absent on create.
    fn warnings_since(&self, old: Option<&Self>) -> Vec<String> {
        let mut warnings = Vec::new();
        if old.is_none() {
            warnings.extend(name_warning(&self.metadata.name));
        }
        if old.is_none_or(|old| old.metadata.generation != self.metadata.generation) {
            warnings.extend(self.spec.job_template.spec.warnings("spec.jobTemplate.spec"));
        }
        // A changed schedule must not contain a time zone.
        if old.is_some() && self.spec.schedule.contains("TZ") {
            warnings.push(
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                    .to_owned(),
            );
        }
        warnings
    }
}

impl CronJobSpec {
    /// Sets the defaults.
    pub(crate) fn set_defaults(&mut self) {
        if self.concurrency_policy.is_empty() {
            "Allow".clone_into(&mut self.concurrency_policy);
        }
        self.suspend.get_or_insert(false);
        self.successful_jobs_history_limit.get_or_insert(3);
        self.failed_jobs_history_limit.get_or_insert(1);
        self.job_template.spec.default_parts();
    }
}
