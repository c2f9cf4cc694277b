//! What is wrong with when a container is started again.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;

use crate::core::v1::{Container, ContainerResizePolicy, ContainerRestartRule, PodSpec};
use crate::features::RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS;

const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const RESTART: &str = "Restart";
const RESTART_ALL: &str = "RestartAllContainers";
const NEEDS_POLICY: &str = "must specify restartPolicy when restart rules are used";
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const RESIZABLE: [&str; 2] = ["cpu", "memory"];
const RESTART_CONTAINER: &str = "RestartContainer";
const AFTER_RESIZING: [&str; 2] = ["NotRequired", RESTART_CONTAINER];

/// How many rules a container can have.
const MAX_RULES: usize = 20;

/// How many codes a rule can name.
const MAX_CODES: usize = 255;

impl Container {
    /// As [`Self::check_restarts`] for a container that prepares the pod: without a policy its rules are not looked at.
    pub(super) fn check_restarts_of_init(&self, errors: &mut FieldErrors) {
        match self.restart_policy {
            None if !self.restart_policy_rules.is_empty() => errors.required("restartPolicy", NEEDS_POLICY),
            None => {}
            Some(_) => self.check_restarts(errors),
        }
    }

    /// Reports what is wrong with the container's own restart policy.
    pub(super) fn check_restarts(&self, errors: &mut FieldErrors) {
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
            rule.check(&mut errors.at_index("restartPolicyRules", index));
        }
    }

    /// Whether the container is to be started again when what it has changes.
    #[must_use]
    pub(crate) fn restarts_after_resizing(&self) -> bool {
        let mut policies = self.resize_policy.iter();
        policies.any(|policy| policy.restart_policy == RESTART_CONTAINER)
    }

    /// Reports that a container which runs once, before the others, would be started again.
    pub(super) fn refuse_restart_after_resizing(&self, errors: &mut FieldErrors) {
        let policies = self.resize_policy.iter().enumerate();
        for (index, policy) in policies.filter(|(_, policy)| policy.restart_policy == RESTART_CONTAINER) {
            let problem = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            let mut errors = errors.at_index("resizePolicy", index);
            errors.invalid("restartPolicy", &policy.restart_policy, problem);
        }
    }

    /// Whether the container, of a pod with the restart policy `of_pod`, may be started again after it ended with `code`.
    #[must_use]
    pub(crate) fn may_restart(&self, of_pod: &str, code: i32) -> bool {
        let own = self.restart_policy.as_deref();
        let mut rules = self.restart_policy_rules.iter();
        if own.is_some()
            && let Some(rule) = rules.find(|rule| rule.matches(code))
            && (rule.action == RESTART || rule.restarts_all() && RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS.is_on())
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
    /// Whether the end of some container may start all others again.
    #[must_use]
    pub(crate) fn may_restart_all(&self) -> bool {
        let mut containers = self.init_containers.iter().chain(&self.containers);
        RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS.is_on()
            && containers.any(|container| {
                let mut rules = container.restart_policy_rules.iter();
                rules.any(ContainerRestartRule::restarts_all)
            })
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

    fn check(&self, errors: &mut FieldErrors) {
        let actions: &[&str] = match RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS.is_on() {
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
            let problem = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid(FIELD, restart, problem);
        }
    }
}
