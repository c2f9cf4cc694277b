//! Validation of job statuses. Most rules check only fields that the update changes, so that a job that was stored with
//! an error can proceed.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::time::Time;
use planesmith_machinery::value::Value;

use super::{Job, JobStatus, UncountedTerminatedPods, indexes};
use crate::core::v1::workload::counts::check_from_zero;

/// Fields that an update changes.
struct Changes {
    complete: bool,
    failed: bool,
    finished: bool,
    failure_target: bool,
    completed_indexes: bool,
    failed_indexes: bool,
    active: bool,
    start_time: bool,
    completion_time: bool,
    uncounted: bool,
    ready: bool,
    terminating: bool,
}

impl Changes {
    fn between(new: &JobStatus, old: &JobStatus) -> Self {
        let condition = |type_: &str| new.is(type_) != old.is(type_);
        Self {
            complete: condition("Complete"),
            failed: condition("Failed"),
            finished: new.is_finished() != old.is_finished(),
            failure_target: condition("FailureTarget"),
            completed_indexes: new.completed_indexes != old.completed_indexes,
            failed_indexes: new.failed_indexes != old.failed_indexes,
            active: new.active != old.active,
            start_time: new.start_time != old.start_time,
            completion_time: new.completion_time != old.completion_time,
            uncounted: new.uncounted_terminated_pods != old.uncounted_terminated_pods,
            ready: new.ready != old.ready,
            terminating: new.terminating != old.terminating,
        }
    }
}

impl Job {
    /// Reports errors in an update of `/status`.
    pub(super) fn check_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("status");
        let changes = Changes::between(&self.status, &old.status);
        self.status.check_counts(errors);
        self.status.check_end(&changes, errors);
        self.check_finished(&changes, errors);
        self.check_indexes(&changes, errors);
        self.check_running(&changes, errors);
        self.check_success(errors);
        self.check_progress(old, &changes, errors);
    }

    fn check_finished(&self, changes: &Changes, errors: &mut FieldErrors) {
        let status = &self.status;
        if !status.is_finished() {
            return;
        }
        if (changes.finished || changes.active) && status.active > 0 {
            errors.invalid("active", status.active, "active>0 is invalid for finished job");
        }
        let never_ran = self.spec.suspend == Some(true) && self.spec.completions == Some(0);
        if (changes.finished || changes.start_time) && !never_ran && status.start_time.is_none() {
            errors.required("startTime", "startTime is required for finished job");
        }
        if (changes.finished || changes.uncounted)
            && let Some(uncounted) = status
                .uncounted_terminated_pods
                .as_ref()
                .filter(|pods| !pods.is_empty())
        {
            errors.invalid(
                "uncountedTerminatedPods",
                GoValue(uncounted),
                "must be empty for finished job",
            );
        }
    }

    fn check_indexes(&self, changes: &Changes, errors: &mut FieldErrors) {
        let (status, spec) = (&self.status, &self.spec);
        let (completed, failed) = (status.completed_indexes.as_str(), status.failed_indexes.as_deref());
        if let Some(completions) = spec.completions {
            if changes.completed_indexes
                && let Err(problem) = indexes::count(completed, completions)
            {
                let detail = format!("error parsing completedIndexes: {problem}");
                errors.invalid("completedIndexes", completed, detail);
            }
            if changes.failed_indexes
                && spec.backoff_limit_per_index.is_some()
                && let Some(failed) = failed
                && let Err(problem) = indexes::count(failed, completions)
            {
                errors.invalid(
                    "failedIndexes",
                    failed,
                    format!("error parsing failedIndexes: {problem}"),
                );
            }
        }
        if changes.completed_indexes && !completed.is_empty() && !spec.is_indexed() {
            errors.invalid(
                "completedIndexes",
                completed,
                "cannot set non-empty completedIndexes when non-indexed completion mode",
            );
        }
        let Some(failed) = failed else { return };
        if changes.failed_indexes && spec.backoff_limit_per_index.is_none() {
            errors.invalid(
                "failedIndexes",
                failed,
                "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
            );
        }
        if (changes.failed_indexes || changes.completed_indexes)
            && let Some(completions) = spec.completions
            && let Some(both) = indexes::overlap(completed, failed, completions)
        {
            let detail = format!("failedIndexes and completedIndexes overlap at index: {both}");
            errors.invalid("failedIndexes", failed, detail);
        }
    }

    fn check_running(&self, changes: &Changes, errors: &mut FieldErrors) {
        let status = &self.status;
        if (changes.finished || changes.terminating)
            && status.is_finished()
            && let Some(terminating @ 1..) = status.terminating
        {
            errors.invalid("terminating", terminating, "terminating>0 is invalid for finished job");
        }
        if (changes.ready || changes.active)
            && let Some(ready) = status.ready.filter(|ready| *ready > status.active)
        {
            errors.invalid("ready", ready, "cannot set more ready pods than active");
        }
    }

    fn check_success(&self, errors: &mut FieldErrors) {
        let is = |type_: &str| self.status.is(type_);
        let met = is("SuccessCriteriaMet");
        if met && is("Failed") {
            refuse_conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions", errors);
        }
        if met && is("FailureTarget") {
            refuse_conditions(
                "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
                errors,
            );
        }
        if self.spec.success_policy.is_some() && !met && is("Complete") {
            refuse_conditions(
                "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
                errors,
            );
        }
    }

    /// Reports regressions of counters and conditions.
    fn check_progress(&self, old: &Self, changes: &Changes, errors: &mut FieldErrors) {
        let (new, old) = (&self.status, &old.status);
        for type_ in ["Failed", "Complete", "FailureTarget"] {
            if old.is(type_) && !new.is(type_) {
                refuse_conditions(&format!("cannot disable the terminal {type_}=True condition"), errors);
            }
        }
        if new.failed < old.failed {
            errors.invalid("failed", new.failed, "cannot decrease the failed counter");
        }
        // An indexed job whose completions equal its parallelism can be scaled down.
        let elastic = self.spec.is_indexed() && self.spec.completions == self.spec.parallelism;
        if !elastic && new.succeeded < old.succeeded {
            errors.invalid("succeeded", new.succeeded, "cannot decrease the succeeded counter");
        }
        if let (Some(time), Some(_)) = (&new.completion_time, &old.completion_time)
            && changes.completion_time
        {
            errors.invalid("completionTime", time as &dyn Value, "field is immutable");
        }
        // The start time may change in the update that ends the suspension, because the spec was changed before.
        let resuming = old.is("Suspended") && new.is_not("Suspended");
        if changes.start_time && !resuming && old.start_time.is_some() && self.spec.suspend != Some(true) {
            let complaint = "field is immutable for unsuspended job once set";
            match &new.start_time {
                Some(time) => errors.invalid("startTime", time as &dyn Value, complaint),
                None => errors.invalid("startTime", Json("null"), complaint),
            }
        }
        let met = |status: &JobStatus| status.is("SuccessCriteriaMet");
        if met(old) && !met(new) {
            refuse_conditions("cannot disable the SuccessCriteriaMet=True condition", errors);
        }
        if old.is("Complete") && !met(old) && met(new) {
            refuse_conditions(
                "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
                errors,
            );
        }
    }
}

impl JobStatus {
    fn check_counts(&self, errors: &mut FieldErrors) {
        check_from_zero("active", self.active, errors);
        check_from_zero("succeeded", self.succeeded, errors);
        check_from_zero("failed", self.failed, errors);
        check_from_zero("ready", self.ready, errors);
        check_from_zero("terminating", self.terminating, errors);
        if let Some(pods) = &self.uncounted_terminated_pods {
            pods.check(&mut errors.at("uncountedTerminatedPods"));
        }
    }

    /// Reports final conditions that contradict each other or lack required fields.
    fn check_end(&self, changes: &Changes, errors: &mut FieldErrors) {
        let (complete, failed, target) = (self.is("Complete"), self.is("Failed"), self.is("FailureTarget"));
        if (changes.complete || changes.failed) && complete && failed {
            refuse_conditions("cannot set Complete=True and Failed=true conditions", errors);
        }
        if (changes.complete || changes.failure_target) && complete && target {
            refuse_conditions("cannot set Complete=True and FailureTarget=true conditions", errors);
        }
        if changes.complete || changes.completion_time {
            match (&self.completion_time, complete) {
                (Some(time), false) => errors.invalid(
                    "completionTime",
                    time as &dyn Value,
                    "cannot set completionTime when there is no Complete=True condition",
                ),
                (None, true) => {
                    errors.required("completionTime", "completionTime is required for Complete jobs");
                }
                _ => {}
            }
        }
        let time = |time: &Option<Time>| time.as_ref().and_then(Time::timestamp);
        if (changes.start_time || changes.completion_time)
            && let (Some(start), Some(end)) = (time(&self.start_time), time(&self.completion_time))
            && end < start
            && let Some(shown) = &self.completion_time
        {
            errors.invalid(
                "completionTime",
                shown as &dyn Value,
                "must be equal to or after `startTime`",
            );
        }
        if changes.failed && failed && !target {
            refuse_conditions(
                "cannot set Failed=True condition without the FailureTarget=true condition",
                errors,
            );
        }
        if changes.complete && complete && !self.is("SuccessCriteriaMet") {
            refuse_conditions(
                "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
                errors,
            );
        }
    }
}

impl UncountedTerminatedPods {
    fn is_empty(&self) -> bool {
        self.succeeded.is_empty() && self.failed.is_empty()
    }

    fn check(&self, errors: &mut FieldErrors) {
        let mut seen = BTreeSet::new();
        for (field, pods) in [("succeeded", &self.succeeded), ("failed", &self.failed)] {
            for (index, pod) in pods.iter().enumerate() {
                let errors = &mut *errors.at_index(field, index);
                if pod.is_empty() {
                    errors.invalid("", pod, "must not be empty");
                } else if !seen.insert(pod) {
                    errors.duplicate("", pod);
                }
            }
        }
    }
}

fn refuse_conditions(detail: &str, errors: &mut FieldErrors) {
    errors.invalid("conditions", Json(""), detail);
}
