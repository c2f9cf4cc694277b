//! Validation of container restart policies.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;

use crate::core::v1::{Container, ContainerResizePolicy, ContainerRestartRule, PodOptions, PodSpec};

const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const RESTART: &str = "Restart";
const RESTART_ALL: &str = "RestartAllContainers";
const NEEDS_POLICY: &str = "must specify restartPolicy when restart rules are used";
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const RESIZABLE: [&str; 2] = ["cpu", "memory"];
const RESTART_CONTAINER: &str = "RestartContainer";
const AFTER_RESIZING: [&str; 2] = ["NotRequired", RESTART_CONTAINER];

/// Maximum number of rules of a container.
const MAX_RULES: usize = 20;

/// Maximum number of exit codes in a rule.
const MAX_CODES: usize = 255;

impl Container {
    /// Checks an init container like [`Self::check_restarts`], but ignores its rules if it has no policy.
    pub(super) fn check_restarts_of_init(&self, options: PodOptions, errors: &mut FieldErrors) {
        let has_rules = !self.restart_policy_rules.is_empty();
        let takes_no_rules = self.is_sidecar() && !options.may_restart_all(errors.features());
        match self.restart_policy {
            None if has_rules => errors.required("restartPolicy", NEEDS_POLICY),
            Some(_) if takes_no_rules && has_rules => {
                let problem = "restartPolicyRules are not allowed for init containers with restart policy Always";
                errors.forbidden("restartPolicyRules", problem);
            }
            Some(_) if !takes_no_rules => self.check_restarts(options, errors),
            _ => {}
        }
    }

    /// Reports errors in the container's own restart policy.
    pub(super) fn check_restarts(&self, options: PodOptions, errors: &mut FieldErrors) {
        let rules = &self.restart_policy_rules;
        match self.restart_policy.as_deref() {
            None if !rules.is_empty() => errors.required("restartPolicy", NEEDS_POLICY),
            Some(policy) if !POLICIES.contains(&policy) => errors.not_supported("restartPolicy", policy, &POLICIES),
            _ => {}
        }
        if rules.len() > MAX_RULES {
            errors.too_many("restartPolicyRules", rules.len(), MAX_RULES as u64);
        }
        for (index, rule) in rules.iter().enumerate() {
            rule.check(options, &mut errors.at_index("restartPolicyRules", index));
        }
    }

    /// True if any resource change restarts the container.
    #[must_use]
    pub(crate) fn restarts_after_resizing(&self) -> bool {
        let mut policies = self.resize_policy.iter();
        policies.any(|policy| policy.restart_policy == RESTART_CONTAINER)
    }

    /// Reports a resize policy that would restart an init container that runs to completion.
    pub(super) fn refuse_restart_after_resizing(&self, errors: &mut FieldErrors) {
        let policies = self.resize_policy.iter().enumerate();
        for (index, policy) in policies.filter(|(_, policy)| policy.restart_policy == RESTART_CONTAINER) {
            let problem = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            let mut errors = errors.at_index("resizePolicy", index);
            errors.invalid("restartPolicy", &policy.restart_policy, problem);
        }
    }

    /// True if the container, in a pod with the restart policy `of_pod`, may be restarted after it exited with `code`.
    /// Rules that restart all containers are not considered: in such a pod any container may be restarted.
    #[must_use]
    pub(crate) fn may_restart(&self, of_pod: &str, code: i32) -> bool {
        let own = self.restart_policy.as_deref();
        let mut rules = self.restart_policy_rules.iter();
        if own.is_some()
            && let Some(rule) = rules.find(|rule| rule.matches(code))
            && rule.action == RESTART
        {
            return true;
        }
        match own.filter(|own| POLICIES.contains(own)).unwrap_or(of_pod) {
            "OnFailure" => code != 0,
            policy => policy != "Never",
        }
    }
}

impl PodSpec {
    /// True if the exit of some container restarts all others. Independent of the feature gate, so that stored pods
    /// stay valid.
    #[must_use]
    pub(crate) fn restarts_all(&self) -> bool {
        let mut containers = self.init_containers.iter().chain(&self.containers);
        containers.any(|container| {
            let mut rules = container.restart_policy_rules.iter();
            rules.any(ContainerRestartRule::restarts_all)
        })
    }

    /// True if the spec contains rules that a newer feature introduced.
    pub(crate) fn has_new_restart_rules(&self) -> bool {
        let mut beside = self.init_containers.iter().filter(|container| container.is_sidecar());
        self.restarts_all() || beside.any(|container| !container.restart_policy_rules.is_empty())
    }
}

impl ContainerRestartRule {
    fn restarts_all(&self) -> bool {
        self.action == RESTART_ALL
    }

    fn matches(&self, code: i32) -> bool {
        let codes = self.exit_codes.as_ref();
        codes.is_some_and(|codes| match codes.operator.as_str() {
            "In" => codes.values.contains(&code),
            "NotIn" => !codes.values.contains(&code),
            _ => false,
        })
    }

    fn check(&self, options: PodOptions, errors: &mut FieldErrors) {
        let actions: &[&str] = match options.may_restart_all(errors.features()) {
            true => &[RESTART, RESTART_ALL],
            false => &[RESTART],
        };
        if !actions.contains(&self.action.as_str()) {
            errors.not_supported("action", &self.action, actions);
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

/// Reports errors in the resize policies.
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
            let problem = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid(FIELD, restart, problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn rules_that_a_feature_brought_are_found_in_what_was_stored() {
        let has = |containers: Value, init: Value| {
            let spec = json!({"containers": containers, "initContainers": init});
            let spec: PodSpec = serde_json::from_value(spec).unwrap();
            (spec.restarts_all(), spec.has_new_restart_rules())
        };
        let container = |policy: &str, action: &str| json!([{"name": "c", "restartPolicy": policy, "restartPolicyRules": [{"action": action}]}]);
        assert_eq!(has(container("Never", "Restart"), json!([])), (false, false));
        assert_eq!(has(container("Never", "RestartAllContainers"), json!([])), (true, true));
        assert_eq!(has(json!([]), container("Always", "Restart")), (false, true));
        assert_eq!(has(json!([]), container("Never", "Restart")), (false, false));
    }
}
