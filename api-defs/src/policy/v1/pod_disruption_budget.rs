//! Limits on voluntary disruptions of an application's pods.

mod columns;
mod selector;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::{Condition, LabelSelector, ObjectMeta};
use planesmith_machinery::strategy::{MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::validation::{
    SelectorValues, check_at_most_100_percent, check_conditions, check_int_or_percent, check_label_selector,
};
use planesmith_machinery::{Resource, Struct};

pub(in crate::policy) use selector::Everything;

/// Legal values of `unhealthyPodEvictionPolicy`.
const EVICTION_POLICIES: [&str; 2] = ["AlwaysAllow", "IfHealthyBudget"];

/// Limits the number of an application's pods that evictions make unavailable at the same time, for example while a
/// node is drained.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "policy",
    version = "v1",
    short("pdb"),
    status,
    generation,
    conditional_update,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Min Available", type = "string", doc = "Minimum number of available pods.", with = columns::min_available),
    column(name = "Max Unavailable", type = "string", doc = "Maximum number of unavailable pods.", with = columns::max_unavailable),
    column(name = "Allowed Disruptions", type = "integer", doc = "Number of evictions that are currently allowed.", path = "status.disruptionsAllowed"),
    column(age)
)]
pub struct PodDisruptionBudget {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The protected pods and the number of them that must stay available.
    #[field(proto = 2)]
    pub spec: PodDisruptionBudgetSpec,
    /// Number of evictions that are currently allowed.
    #[field(proto = 3)]
    pub status: PodDisruptionBudgetStatus,
}

/// The pods that a budget protects and the number of them that must stay available.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDisruptionBudgetSpec {
    /// Number of pods that must still be available after an eviction, as a number or as a percentage such as 50%.
    /// Excludes maxUnavailable.
    #[field(proto = 1)]
    pub min_available: Option<IntOrString>,
    /// Labels of the protected pods: no pods when absent, all pods of the namespace when empty.
    #[field(proto = 2, patch_strategy(replace))]
    pub selector: Option<LabelSelector>,
    /// Maximum number of unavailable pods after an eviction, as a number or as a percentage. Excludes minAvailable.
    #[field(proto = 3)]
    pub max_unavailable: Option<IntOrString>,
    /// Policy for evicting running pods that are not ready: IfHealthyBudget (the default) permits it while enough other
    /// pods are healthy, AlwaysAllow always permits it.
    #[field(
        proto = 4,
        known("AlwaysAllow", "IfHealthyBudget"),
        go_type = "UnhealthyPodEvictionPolicyType"
    )]
    pub unhealthy_pod_eviction_policy: Option<String>,
}

/// Number of evictions that a budget currently allows, written by a controller.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDisruptionBudgetStatus {
    /// Generation of the budget that the status describes.
    #[field(proto = 1)]
    pub observed_generation: i64,
    /// Pods whose eviction was granted but that still exist, with the time of the eviction.
    #[field(proto = 2)]
    pub disrupted_pods: BTreeMap<String, Time>,
    /// Number of evictions that are currently allowed.
    #[field(proto = 3, keep, optional)]
    pub disruptions_allowed: i32,
    /// Number of healthy pods.
    #[field(proto = 4, keep, optional)]
    pub current_healthy: i32,
    /// Number of pods that must be healthy.
    #[field(proto = 5, keep, optional)]
    pub desired_healthy: i32,
    /// Number of pods that the budget protects.
    #[field(proto = 6, keep, optional)]
    pub expected_pods: i32,
    /// Conditions of the budget. DisruptionAllowed is True if evictions are allowed.
    #[field(proto = 7, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

impl Strategy for PodDisruptionBudget {
    fn set_defaults(&mut self) {
        if let Some(selector) = &mut self.spec.selector {
            Everything::V1.tidy(selector);
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(SelectorValues::Legal, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let values = match &old.spec.selector {
            Some(old) => SelectorValues::as_stored(old),
            None => SelectorValues::Legal,
        };
        self.spec.check(values, errors);
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        self.status.check(&mut errors.at("status"));
    }
}

impl StrategyExtensions for PodDisruptionBudget {
    const METADATA: MetadataRules = MetadataRules::None;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl PodDisruptionBudgetSpec {
    fn check(&self, values: SelectorValues, errors: &mut FieldErrors) {
        if self.min_available.is_some() && self.max_unavailable.is_some() {
            let detail = "minAvailable and maxUnavailable cannot be both set";
            errors.invalid("spec", GoValue(self), detail);
        }
        let errors = &mut *errors.at("spec");
        for (field, value) in [
            ("minAvailable", &self.min_available),
            ("maxUnavailable", &self.max_unavailable),
        ] {
            if let Some(value) = value {
                check_int_or_percent(value, field, errors);
                check_at_most_100_percent(value, field, errors);
            }
        }
        if let Some(selector) = &self.selector {
            check_label_selector(selector, values, &mut errors.at("selector"));
        }
        if let Some(policy) = self.unhealthy_pod_eviction_policy.as_deref()
            && !EVICTION_POLICIES.contains(&policy)
        {
            errors.not_supported("unhealthyPodEvictionPolicy", policy, &EVICTION_POLICIES);
        }
    }
}

impl PodDisruptionBudgetStatus {
    fn check(&self, errors: &mut FieldErrors) {
        check_conditions(errors, "conditions", &self.conditions);
        for (field, count) in [
            ("disruptionsAllowed", self.disruptions_allowed),
            ("currentHealthy", self.current_healthy),
            ("desiredHealthy", self.desired_healthy),
            ("expectedPods", self.expected_pods),
        ] {
            if count < 0 {
                errors.invalid(field, count, "must be greater than or equal to 0");
            }
        }
    }
}
