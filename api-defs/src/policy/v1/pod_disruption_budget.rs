//! How many pods of an application may be missing at a time.

mod columns;
mod selector;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::{Condition, LabelSelector, ObjectMeta};
use planesmith_machinery::rules::{MetadataRules, Rules, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::validation::{
    SelectorValues, check_at_most_100_percent, check_conditions, check_int_or_percent, check_label_selector,
};
use planesmith_machinery::{Resource, Struct};

pub(in crate::policy) use selector::Everything;

/// When pods that are not healthy may be evicted.
const EVICTION_POLICIES: [&str; 2] = ["AlwaysAllow", "IfHealthyBudget"];

/// How many pods of an application may be missing at a time because somebody evicts them, for example to drain a node.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "policy",
    version = "v1",
    short("pdb"),
    status,
    generation,
    conditional_update,
    rules
)]
#[resource(
    column(name),
    column(name = "Min Available", type = "string", doc = "How many pods must stay available.", with = columns::min_available),
    column(name = "Max Unavailable", type = "string", doc = "How many pods may be missing.", with = columns::max_unavailable),
    column(name = "Allowed Disruptions", type = "integer", doc = "How many pods may be evicted now.", path = "status.disruptionsAllowed"),
    column(age)
)]
pub struct PodDisruptionBudget {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Which pods, and how many of them have to stay.
    #[field(proto = 2)]
    pub spec: PodDisruptionBudgetSpec,
    /// How many may be evicted at the moment.
    #[field(proto = 3)]
    pub status: PodDisruptionBudgetStatus,
}

/// Which pods a budget protects, and how many of them have to stay.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDisruptionBudgetSpec {
    /// How many of the pods must still be available after an eviction, as a number or as a share such as 50%. Excludes
    /// maxUnavailable.
    #[field(proto = 1)]
    pub min_available: Option<IntOrString>,
    /// Which pods the budget is about: none when absent, all of the namespace when empty.
    #[field(proto = 2, patch_strategy(replace))]
    pub selector: Option<LabelSelector>,
    /// How many of the pods may be unavailable after an eviction, as a number or as a share. Excludes minAvailable.
    #[field(proto = 3)]
    pub max_unavailable: Option<IntOrString>,
    /// When pods that run without being ready may be evicted: IfHealthyBudget, which is the default, as long as enough
    /// others are healthy; AlwaysAllow in any case.
    #[field(
        proto = 4,
        known("AlwaysAllow", "IfHealthyBudget"),
        go_type = "UnhealthyPodEvictionPolicyType"
    )]
    pub unhealthy_pod_eviction_policy: Option<String>,
}

/// How many pods may be evicted at the moment; a controller says so.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDisruptionBudgetStatus {
    /// The generation of the budget that the numbers are about.
    #[field(proto = 1)]
    pub observed_generation: i64,
    /// Pods whose eviction was granted and that are not gone yet, with the time of the grant.
    #[field(proto = 2)]
    pub disrupted_pods: BTreeMap<String, Time>,
    /// How many pods may be evicted now.
    #[field(proto = 3, keep, optional)]
    pub disruptions_allowed: i32,
    /// How many pods are healthy.
    #[field(proto = 4, keep, optional)]
    pub current_healthy: i32,
    /// How many pods have to be healthy.
    #[field(proto = 5, keep, optional)]
    pub desired_healthy: i32,
    /// How many pods the budget is about.
    #[field(proto = 6, keep, optional)]
    pub expected_pods: i32,
    /// Aspects of the budget; DisruptionAllowed says whether any eviction is granted, and why not.
    #[field(proto = 7, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

impl Rules for PodDisruptionBudget {
    const METADATA: MetadataRules = MetadataRules::None;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;

    fn default_values(&mut self) {
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
