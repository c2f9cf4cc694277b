//! Scaling behavior with the names that Go gives to fields without tags.

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

use crate::autoscaling::v2;

/// Scaling rules for both directions.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "HorizontalPodAutoscalerBehavior")]
pub(in crate::autoscaling::v1) struct Behavior {
    #[field(name = "ScaleUp", keep)]
    scale_up: Option<Rules>,
    #[field(name = "ScaleDown", keep)]
    scale_down: Option<Rules>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "HPAScalingRules")]
struct Rules {
    #[field(name = "StabilizationWindowSeconds", keep)]
    stabilization_window_seconds: Option<i32>,
    #[field(name = "SelectPolicy", keep)]
    select_policy: Option<String>,
    #[field(name = "Policies", keep, list_type = atomic)]
    policies: Vec<Policy>,
    #[field(name = "Tolerance", keep)]
    tolerance: Option<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "HPAScalingPolicy")]
struct Policy {
    #[field(name = "Type", keep)]
    type_: String,
    #[field(name = "Value", keep)]
    value: i32,
    #[field(name = "PeriodSeconds", keep)]
    period_seconds: i32,
}

impl From<&v2::HorizontalPodAutoscalerBehavior> for Behavior {
    fn from(newest: &v2::HorizontalPodAutoscalerBehavior) -> Self {
        Self {
            scale_up: newest.scale_up.as_ref().map(Rules::from),
            scale_down: newest.scale_down.as_ref().map(Rules::from),
        }
    }
}

impl From<Behavior> for v2::HorizontalPodAutoscalerBehavior {
    fn from(kept: Behavior) -> Self {
        Self {
            scale_up: kept.scale_up.map(v2::HPAScalingRules::from),
            scale_down: kept.scale_down.map(v2::HPAScalingRules::from),
        }
    }
}

impl From<&v2::HPAScalingRules> for Rules {
    fn from(newest: &v2::HPAScalingRules) -> Self {
        let policy = |policy: &v2::HPAScalingPolicy| Policy {
            type_: policy.type_.clone(),
            value: policy.value,
            period_seconds: policy.period_seconds,
        };
        Self {
            stabilization_window_seconds: newest.stabilization_window_seconds,
            select_policy: newest.select_policy.clone(),
            policies: newest.policies.iter().flatten().map(policy).collect(),
            tolerance: newest.tolerance.clone(),
        }
    }
}

impl From<Rules> for v2::HPAScalingRules {
    fn from(kept: Rules) -> Self {
        let policy = |policy: Policy| v2::HPAScalingPolicy {
            type_: policy.type_,
            value: policy.value,
            period_seconds: policy.period_seconds,
        };
        Self {
            stabilization_window_seconds: kept.stabilization_window_seconds,
            select_policy: kept.select_policy,
            policies: Some(kept.policies.into_iter().map(policy).collect())
                .filter(|policies: &Vec<_>| !policies.is_empty()),
            tolerance: kept.tolerance,
        }
    }
}
