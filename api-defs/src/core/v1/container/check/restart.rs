//! What is wrong with when a container is started again.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;

use crate::core::v1::{Container, ContainerResizePolicy, ContainerRestartRule};

const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const ACTIONS: [&str; 2] = ["Restart", "RestartAllContainers"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const RESIZABLE: [&str; 2] = ["cpu", "memory"];
const AFTER_RESIZING: [&str; 2] = ["NotRequired", "RestartContainer"];

/// How many rules a container can have.
const MAX_RULES: usize = 20;

/// How many codes a rule can name.
const MAX_CODES: usize = 255;

impl Container {
    /// Reports what is wrong with the container's own restart policy.
    pub(super) fn check_restarts(&self, errors: &mut FieldErrors) {
        let rules = &self.restart_policy_rules;
        match self.restart_policy.as_deref() {
            None if !rules.is_empty() => {
                errors.required(
                    "restartPolicy",
                    "must specify restartPolicy when restart rules are used",
                );
            }
            Some(policy) if !POLICIES.contains(&policy) => errors.not_supported("restartPolicy", policy, &POLICIES),
            _ => {}
        }
        if rules.len() > MAX_RULES {
            errors.too_many("restartPolicyRules", rules.len(), MAX_RULES as u64);
        }
        for (index, rule) in rules.iter().enumerate() {
            rule.check(&mut errors.at_index("restartPolicyRules", index));
        }
    }
}

impl ContainerRestartRule {
    fn check(&self, errors: &mut FieldErrors) {
        if !ACTIONS.contains(&self.action.as_str()) {
            errors.not_supported("action", &self.action, &ACTIONS);
        }
        let Some(codes) = &self.exit_codes else {
            errors.required("exitCodes", "must be specified");
            return;
        };
        let mut errors = errors.at("exitCodes");
        if !OPERATORS.contains(&codes.operator.as_str()) {
            errors.not_supported("operator", &codes.operator, &OPERATORS);
        }
        if codes.values.len() > MAX_CODES {
            errors.too_many("values", codes.values.len(), MAX_CODES as u64);
        }
    }
}

/// Reports what is wrong with what happens to a container whose resources change.
pub(super) fn check_resize_policy(policies: &[ContainerResizePolicy], of_pod: &str, errors: &mut FieldErrors) {
    const FIELD: &str = "resizePolicy";
    let mut known = BTreeSet::new();
    for (index, policy) in policies.iter().enumerate() {
        let (resource, restart) = (policy.resource_name.as_str(), policy.restart_policy.as_str());
        if !known.insert(resource) {
            errors.at_index(FIELD, index).duplicate("", resource);
        }
        for (value, supported) in [(resource, &RESIZABLE), (restart, &AFTER_RESIZING)] {
            match value {
                "" => errors.required(FIELD, ""),
                value if !supported.contains(&value) => errors.not_supported(FIELD, value, supported),
                _ => {}
            }
        }
        if of_pod == "Never" && restart != "NotRequired" {
            let problem = "must be 'NotRequired' when `restartPolicy` is 'Never'";
            errors.invalid(FIELD, restart, problem);
        }
    }
}
