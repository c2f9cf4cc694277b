//! Policies for jobs whose pods fail.

use std::collections::BTreeSet;

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;
use planesmith_machinery::value::Value;

use super::JobSpec;

const MAX_RULES: usize = 20;
const MAX_EXIT_CODES: usize = 255;
const MAX_PATTERNS: usize = 20;

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// Rules about the consequences of pod failures for a job.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodFailurePolicy {
    /// Rules, at most 20. The first rule that matches a failure decides. A failure that matches none counts against
    /// backoffLimit.
    #[field(proto = 1, keep, list_type = atomic)]
    pub rules: Vec<PodFailurePolicyRule>,
}

/// Action for one kind of pod failure. Exactly one of onExitCodes and onPodConditions is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodFailurePolicyRule {
    /// Action on a match: FailJob stops all pods and fails the job; FailIndex fails the index of the pod, which
    /// requires backoffLimitPerIndex; Ignore replaces the pod without counting the failure; Count counts it.
    #[field(
        proto = 1,
        keep,
        known("FailJob", "FailIndex", "Ignore", "Count"),
        go_type = "PodFailurePolicyAction"
    )]
    pub action: String,
    /// Exit codes of containers that match.
    #[field(proto = 2)]
    pub on_exit_codes: Option<PodFailurePolicyOnExitCodesRequirement>,
    /// Pod conditions that match, at most 20; one of them is sufficient.
    #[field(proto = 3, list_type = atomic)]
    pub on_pod_conditions: Vec<PodFailurePolicyOnPodConditionsPattern>,
}

/// A requirement on the exit codes of containers.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodFailurePolicyOnExitCodesRequirement {
    /// Name of the container. All containers when absent.
    #[field(proto = 1)]
    pub container_name: Option<String>,
    /// Operator: In matches if the exit code of a failed container is among the values; NotIn matches if it is neither
    /// among them nor 0.
    #[field(
        proto = 2,
        keep,
        known("In", "NotIn"),
        go_type = "PodFailurePolicyOnExitCodesOperator"
    )]
    pub operator: String,
    /// Exit codes, sorted and distinct; 1 to 255 of them. Must not contain 0 for In.
    #[field(proto = 3, keep, list_type = set)]
    pub values: Vec<i32>,
}

/// A pattern for a condition of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodFailurePolicyOnPodConditionsPattern {
    /// Type of the pod condition, such as DisruptionTarget.
    #[field(name = "type", proto = 1, keep, go_type = "v1.PodConditionType")]
    pub type_: String,
    /// Status of the pod condition. Defaults to True.
    #[field(proto = 2, keep, optional, go_type = "v1.ConditionStatus")]
    pub status: String,
}

impl PodFailurePolicy {
    pub(super) fn set_defaults(&mut self) {
        for pattern in self.rules.iter_mut().flat_map(|rule| &mut rule.on_pod_conditions) {
            if pattern.status.is_empty() {
                "True".clone_into(&mut pattern.status);
            }
        }
    }

    /// Reports errors in the policy of `spec`.
    pub(super) fn check(&self, spec: &JobSpec, errors: &mut FieldErrors) {
        if self.rules.len() > MAX_RULES {
            errors.too_many("rules", self.rules.len(), MAX_RULES as u64);
        }
        let pod = &spec.template.spec;
        let containers: BTreeSet<&str> = pod
            .containers
            .iter()
            .chain(&pod.init_containers)
            .map(|container| container.name.as_str())
            .collect();
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check(spec, &containers, &mut errors.at_index("rules", index));
        }
    }
}

impl PodFailurePolicyRule {
    fn check(&self, spec: &JobSpec, containers: &BTreeSet<&str>, errors: &mut FieldErrors) {
        match self.action.as_str() {
            "FailIndex" if spec.backoff_limit_per_index.is_none() => {
                errors.invalid("action", "FailIndex", "requires the backoffLimitPerIndex to be set");
            }
            action => check_choice("action", action, &ACTIONS, errors),
        }
        if let Some(codes) = &self.on_exit_codes {
            codes.check(containers, &mut errors.at("onExitCodes"));
        }
        let patterns = &self.on_pod_conditions;
        if patterns.len() > MAX_PATTERNS {
            errors.too_many("onPodConditions", patterns.len(), MAX_PATTERNS as u64);
        }
        for (index, pattern) in patterns.iter().enumerate() {
            let errors = &mut *errors.at_index("onPodConditions", index);
            for complaint in names::qualified_name(&pattern.type_) {
                errors.invalid("type", &pattern.type_, complaint);
            }
            check_choice("status", &pattern.status, &STATUSES, errors);
        }
        match (self.on_exit_codes.is_some(), !patterns.is_empty()) {
            (true, true) => errors.invalid(
                "",
                Json(""),
                "specifying both OnExitCodes and OnPodConditions is not supported",
            ),
            (false, false) => errors.invalid(
                "",
                Json(""),
                "specifying one of OnExitCodes and OnPodConditions is required",
            ),
            _ => {}
        }
    }
}

impl PodFailurePolicyOnExitCodesRequirement {
    fn check(&self, containers: &BTreeSet<&str>, errors: &mut FieldErrors) {
        check_choice("operator", &self.operator, &OPERATORS, errors);
        if let Some(name) = self.container_name.as_deref().filter(|name| !containers.contains(name)) {
            errors.invalid(
                "containerName",
                name,
                "must be one of the container or initContainer names in the pod template",
            );
        }
        match self.values.len() {
            0 => errors.invalid("values", Json("[]"), "at least one value is required"),
            count if count > MAX_EXIT_CODES => errors.too_many("values", count, MAX_EXIT_CODES as u64),
            _ => {}
        }
        let mut seen = BTreeSet::new();
        for (index, code) in self.values.iter().enumerate() {
            let errors = &mut *errors.at_index("values", index);
            if self.operator == "In" && *code == 0 {
                errors.invalid("", 0, "must not be 0 for the In operator");
            }
            if !seen.insert(*code) {
                errors.duplicate("", *code);
            }
        }
        if !self.values.is_sorted() {
            errors.invalid("values", GoValue(&self.values as &dyn Value), "must be ordered");
        }
    }
}

/// Reports a missing or illegal choice.
fn check_choice(field: &str, choice: &str, choices: &[&str], errors: &mut FieldErrors) {
    if choice.is_empty() {
        let quoted: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
        errors.required(field, format!("valid values: [{}]", quoted.join(" ")));
    } else if !choices.contains(&choice) {
        errors.not_supported_in_order(field, choice, choices);
    }
}
