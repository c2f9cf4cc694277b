//! Validation of cron jobs.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::value::Value;

use super::{CronJob, CronJobSpec, schedule, time_zone};
use crate::core::v1::workload::counts::check_from_zero;

/// Maximum length of a name: the names of jobs append a dash and ten digits and have at most 63 characters.
const MAX_NAME: usize = 52;

impl CronJob {
    /// Reports a name that is too long for the names of the jobs.
    pub(super) fn check_name(&self, errors: &mut FieldErrors) {
        let name = &self.metadata.name;
        if name.len() > MAX_NAME {
            errors.invalid(
                "metadata.name",
                name,
                format!("must be no more than {MAX_NAME} characters"),
            );
        }
    }
}

impl CronJobSpec {
    /// Reports errors in the spec. A time zone in the schedule, or one that has become unknown, is tolerated if
    /// unchanged.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        self.check_schedule(old, errors);
        check_from_zero("startingDeadlineSeconds", self.starting_deadline_seconds, errors);
        if let Some(zone) = &self.time_zone
            && old.is_none_or(|old| old.time_zone.as_ref() != Some(zone))
        {
            time_zone::check(zone, errors);
        }
        match self.concurrency_policy.as_str() {
            "Allow" | "Forbid" | "Replace" => {}
            "" => errors.required("concurrencyPolicy", ""),
            other => errors.not_supported_in_order("concurrencyPolicy", other, &["Allow", "Forbid", "Replace"]),
        }
        self.check_job(old, &mut errors.at("jobTemplate.spec"));
        check_from_zero("successfulJobsHistoryLimit", self.successful_jobs_history_limit, errors);
        check_from_zero("failedJobsHistoryLimit", self.failed_jobs_history_limit, errors);
    }

    fn check_schedule(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let text = self.schedule.as_str();
        if text.is_empty() {
            errors.required("schedule", "");
            return;
        }
        if let Err(problem) = schedule::check(text) {
            errors.invalid("schedule", text, problem);
        }
        if !text.contains("TZ") {
            return;
        }
        if !old.is_some_and(|old| old.schedule.contains("TZ")) {
            errors.invalid(
                "schedule",
                text,
                "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
            );
        } else if self.time_zone.is_some() {
            errors.invalid(
                "schedule",
                text,
                "cannot use both timeZone field and TZ or CRON_TZ in schedule",
            );
        }
    }

    fn check_job(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let job = &self.job_template.spec;
        job.check(old.map(|old| &old.job_template.spec), errors);
        if let Some(selector) = &job.selector {
            errors.invalid("selector", selector as &dyn Value, "`selector` will be auto-generated");
        }
        if job.manual_selector == Some(true) {
            errors.not_supported_in_order("manualSelector", true, &["nil", "false"]);
        }
    }
}
