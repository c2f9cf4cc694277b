use serde_json::json;

use super::*;

fn messages(spec: PodDisruptionBudgetSpec) -> Option<String> {
    let budget = PodDisruptionBudget {
        spec,
        ..PodDisruptionBudget::default()
    };
    let mut errors = FieldErrors::default();
    budget.validate(&mut errors);
    errors.joined()
}

#[test]
fn only_one_bound_is_given() {
    let spec = PodDisruptionBudgetSpec {
        min_available: Some("50%".into()),
        max_unavailable: Some(1.into()),
        ..PodDisruptionBudgetSpec::default()
    };
    assert_eq!(
        messages(spec).as_deref(),
        Some(
            "spec: Invalid value: {\"MinAvailable\":\"50%\",\"Selector\":null,\"MaxUnavailable\":1,\
             \"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be both set"
        )
    );
}

#[test]
fn counts_in_the_status_are_not_negative() {
    let mut budget = PodDisruptionBudget::default();
    budget.status.expected_pods = -1;
    let mut errors = FieldErrors::default();
    budget.validate_status_update(&PodDisruptionBudget::default(), &mut errors);
    assert_eq!(
        errors.joined().as_deref(),
        Some("status.expectedPods: Invalid value: -1: must be greater than or equal to 0")
    );
}

#[test]
fn a_selector_that_is_stored_may_stay() {
    let selector: LabelSelector = serde_json::from_value(json!({
        "matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]
    }))
    .expect("a selector");
    let spec = PodDisruptionBudgetSpec {
        selector: Some(selector),
        ..PodDisruptionBudgetSpec::default()
    };
    assert!(messages(spec.clone()).is_some());
    let budget = PodDisruptionBudget {
        spec,
        ..PodDisruptionBudget::default()
    };
    let mut errors = FieldErrors::default();
    budget.validate_update(&budget, &mut errors);
    assert!(errors.is_empty());
}
