//! Rates at which an autoscaler may scale.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::quantity::Quantity;

/// Maximum period of a policy in seconds.
const MAX_PERIOD_SECONDS: i32 = 1800;

/// Maximum stabilization window in seconds.
const MAX_WINDOW_SECONDS: i32 = 3600;

/// Scaling rules of an autoscaler for both directions.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HorizontalPodAutoscalerBehavior {
    /// Limits for adding pods. When absent, 4 pods may be added or the pods may be doubled every 15 seconds, whichever
    /// is more, without stabilization.
    #[field(proto = 1)]
    pub scale_up: Option<HPAScalingRules>,
    /// Limits for removing pods. When absent, all pods may be removed every 15 seconds, but not below the highest
    /// recommendation of the last 300 seconds.
    #[field(proto = 2)]
    pub scale_down: Option<HPAScalingRules>,
}

/// Scaling rules for one direction.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HPAScalingRules {
    /// Stabilization window in seconds, at most 3600, in which the most cautious of the past recommendations is used.
    /// Defaults to 0 for scaling up, and for scaling down to a flag of the controller, usually 300.
    #[field(proto = 3)]
    pub stabilization_window_seconds: Option<i32>,
    /// Selection among several policies: Max (the default) takes the largest change, Min the smallest, Disabled
    /// prevents scaling in this direction.
    #[field(proto = 1, go_type = "ScalingPolicySelect")]
    pub select_policy: Option<String>,
    /// Policies that limit the change within a period. The defaults of the direction apply when absent; must not be
    /// empty when present.
    #[field(proto = 2, list_type = atomic)]
    pub policies: Option<Vec<HPAScalingPolicy>>,
    /// Deviation of a metric from its target below which nothing changes, as a fraction of 1. Defaults to a flag of the
    /// controller, usually 0.1.
    #[field(proto = 4)]
    pub tolerance: Option<Quantity>,
}

/// Maximum change within a period.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HPAScalingPolicy {
    /// Unit of value: Pods, or Percent of the current pods.
    #[field(name = "type", proto = 1, keep, go_type = "HPAScalingPolicyType")]
    pub type_: String,
    /// Maximum change; greater than zero.
    #[field(proto = 2, keep)]
    pub value: i32,
    /// Period in seconds; more than zero and at most 1800.
    #[field(proto = 3, keep)]
    pub period_seconds: i32,
}

impl HorizontalPodAutoscalerBehavior {
    /// Sets the defaults of both directions.
    pub(super) fn set_defaults(&mut self) {
        let policy = |type_: &str, value| HPAScalingPolicy {
            type_: type_.to_owned(),
            value,
            period_seconds: 15,
        };
        let up = self.scale_up.get_or_insert_default();
        up.stabilization_window_seconds.get_or_insert(0);
        up.set_defaults(|| vec![policy("Pods", 4), policy("Percent", 100)]);
        let down = self.scale_down.get_or_insert_default();
        down.set_defaults(|| vec![policy("Percent", 100)]);
    }

    /// Reports errors in both directions.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        for (field, rules) in [("scaleUp", &self.scale_up), ("scaleDown", &self.scale_down)] {
            if let Some(rules) = rules {
                rules.check(&mut errors.at(field));
            }
        }
    }
}

impl HPAScalingRules {
    fn set_defaults(&mut self, policies: impl FnOnce() -> Vec<HPAScalingPolicy>) {
        self.select_policy.get_or_insert_with(|| "Max".to_owned());
        self.policies.get_or_insert_with(policies);
    }

    fn check(&self, errors: &mut FieldErrors) {
        match self.stabilization_window_seconds {
            Some(seconds @ ..0) => errors.invalid(
                "stabilizationWindowSeconds",
                seconds,
                "must be greater than or equal to zero",
            ),
            Some(seconds) if seconds > MAX_WINDOW_SECONDS => errors.invalid(
                "stabilizationWindowSeconds",
                seconds,
                format!("must be less than or equal to {MAX_WINDOW_SECONDS}"),
            ),
            _ => {}
        }
        if let Some(policy) = &self.select_policy
            && !matches!(policy.as_str(), "Max" | "Min" | "Disabled")
        {
            errors.not_supported("selectPolicy", policy.as_str(), &["Max", "Min", "Disabled"]);
        }
        let policies = self.policies.as_deref().unwrap_or_default();
        if policies.is_empty() {
            errors.required("policies", "must specify at least one Policy");
        }
        for (index, policy) in policies.iter().enumerate() {
            policy.check(&mut errors.at_index("policies", index));
        }
        if let Some(tolerance) = &self.tolerance
            && tolerance.is_negative()
        {
            errors.invalid(
                "tolerance",
                tolerance.to_string().as_str(),
                "must be greater than or equal to 0",
            );
        }
    }
}

impl HPAScalingPolicy {
    fn check(&self, errors: &mut FieldErrors) {
        if !matches!(self.type_.as_str(), "Pods" | "Percent") {
            errors.not_supported("type", self.type_.as_str(), &["Pods", "Percent"]);
        }
        if self.value <= 0 {
            errors.invalid("value", self.value, "must be greater than zero");
        }
        if self.period_seconds <= 0 {
            errors.invalid("periodSeconds", self.period_seconds, "must be greater than zero");
        }
        if self.period_seconds > MAX_PERIOD_SECONDS {
            let problem = format!("must be less than or equal to {MAX_PERIOD_SECONDS}");
            errors.invalid("periodSeconds", self.period_seconds, problem);
        }
    }
}
