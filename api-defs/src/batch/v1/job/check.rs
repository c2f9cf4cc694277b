//! Validation of jobs.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;
use planesmith_machinery::validation::{SelectorValues, check_domain_path, check_label_selector};

use super::{Job, JobSpec};
use crate::core::v1::PodOptions;
use crate::core::v1::workload::counts::check_from_zero;
use crate::core::v1::workload::selector::{Match, matches, report_mismatch};

const MAX_MANAGED_BY: usize = 63;

impl Job {
    pub(super) fn check(&self, old: Option<&JobSpec>, errors: &mut FieldErrors) {
        self.check_identity(old, errors);
        self.spec.check_with_selector(old, &mut errors.at("spec"));
        if self.spec.is_indexed()
            && let Some(completions @ 1..) = self.spec.completions
        {
            let hostname = format!("{}-{}", self.metadata.name, completions - 1);
            if !names::dns_label(&hostname).is_empty() {
                let detail = format!("will not able to create pod with invalid DNS label: {hostname}");
                errors.invalid("metadata.name", &self.metadata.name, detail);
            }
        }
    }
}

impl JobSpec {
    /// Reports errors in the spec of a standalone job.
    pub(super) fn check_with_selector(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        self.check(old, errors);
        match &self.selector {
            None => errors.required("selector", ""),
            Some(selector) => {
                // A stored selector is immutable, so its values are not checked again.
                let kept = old.is_some_and(|old| old.selector.as_ref() == Some(selector));
                let values = if kept {
                    SelectorValues::Any
                } else {
                    SelectorValues::Legal
                };
                check_label_selector(selector, values, &mut errors.at("selector"));
            }
        }
        let labels = &self.template.metadata.labels;
        if matches(self.selector.as_ref(), labels) == Match::No {
            report_mismatch(labels, "template.metadata.labels", errors);
        }
    }

    /// Reports errors in the spec of a job or of a job template.
    pub(crate) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        check_from_zero("parallelism", self.parallelism, errors);
        check_from_zero("completions", self.completions, errors);
        check_from_zero("activeDeadlineSeconds", self.active_deadline_seconds, errors);
        check_from_zero("backoffLimit", self.backoff_limit, errors);
        check_from_zero("ttlSecondsAfterFinished", self.ttl_seconds_after_finished, errors);
        check_from_zero("backoffLimitPerIndex", self.backoff_limit_per_index, errors);
        check_from_zero("maxFailedIndexes", self.max_failed_indexes, errors);
        if self.max_failed_indexes.is_some() && self.backoff_limit_per_index.is_none() {
            errors.required("backoffLimitPerIndex", "when maxFailedIndexes is specified");
        }
        self.check_manager(errors);
        self.check_completion(errors);
        if let Some(policy) = &self.pod_failure_policy {
            policy.check(self, &mut errors.at("podFailurePolicy"));
        }
        if let Some(policy) = &self.success_policy {
            match self.is_indexed() {
                false => errors.invalid("successPolicy", GoValue(policy), "requires indexed completion mode"),
                true => policy.check(self.completions, &mut errors.at("successPolicy")),
            }
        }
        if let Some(policy) = self.pod_replacement_policy.as_deref() {
            let choices: &[&str] = match self.pod_failure_policy {
                Some(_) => &["Failed"],
                None => &["Failed", "TerminatingOrFailed"],
            };
            if !choices.contains(&policy) {
                errors.not_supported_in_order("podReplacementPolicy", policy, choices);
            }
        }
        let options = PodOptions::of_template(old.map(|old| &old.template));
        self.template.check(options, &mut errors.at("template"));
        self.check_restart_policy(errors);
    }

    fn check_manager(&self, errors: &mut FieldErrors) {
        let Some(manager) = self.managed_by.as_deref() else {
            return;
        };
        check_domain_path("managedBy", manager, errors);
        if manager.len() > MAX_MANAGED_BY {
            errors.too_long("managedBy", MAX_MANAGED_BY as u64);
        }
    }

    fn check_restart_policy(&self, errors: &mut FieldErrors) {
        let field = "template.spec.restartPolicy";
        match self.template.spec.restart_policy.as_str() {
            "" | "Always" => errors.required(field, "valid values: \"OnFailure\", \"Never\""),
            policy @ "OnFailure" if self.pod_failure_policy.is_some() => errors.invalid(
                field,
                policy,
                "only \"Never\" is supported when podFailurePolicy is specified",
            ),
            "OnFailure" | "Never" => {}
            policy => errors.not_supported_in_order(field, policy, &["OnFailure", "Never"]),
        }
    }
}
