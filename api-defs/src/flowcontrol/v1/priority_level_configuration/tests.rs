use serde_json::{Value, json};

use super::*;

fn messages(name: &str, spec: &Value) -> Vec<String> {
    let mut level: PriorityLevelConfiguration = serde_json::from_value(json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": name},
        "spec": spec,
    }))
    .expect("a level");
    level.set_defaults();
    let mut errors = FieldErrors::default();
    level.validate(&mut errors);
    errors.as_slice().iter().map(|error| error.message()).collect()
}

#[test]
fn mandatory_levels_are_legal() {
    for name in ["exempt", "catch-all"] {
        let spec = PriorityLevelConfigurationSpec::mandatory(name).expect("a mandatory level");
        assert_eq!(
            messages(name, &serde_json::to_value(spec).expect("JSON")),
            Vec::<String>::new()
        );
    }
}

#[test]
fn lending_of_the_exempt_level_can_change() {
    let spec = json!({"type": "Exempt", "exempt": {"nominalConcurrencyShares": 4, "lendablePercent": 20}});
    assert_eq!(messages("exempt", &spec), Vec::<String>::new());
    let negative = json!({"type": "Exempt", "exempt": {"nominalConcurrencyShares": -4}});
    assert_eq!(
        messages("exempt", &negative),
        ["spec.exempt.nominalConcurrencyShares: Invalid value: -4: must be a non-negative integer"]
    );
}

#[test]
fn hands_are_as_large_as_hashes_allow() {
    let spec = |hand: i32| {
        let queuing = json!({"queues": 1024, "handSize": hand});
        json!({"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": queuing}}})
    };
    assert_eq!(messages("l", &spec(6)), Vec::<String>::new());
    assert_eq!(
        messages("l", &spec(7)),
        [
            "spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and \
             handSize 7 should not be greater than 60"
        ]
    );
}

#[test]
fn conditions_have_a_type() {
    let mut level = PriorityLevelConfiguration::default();
    level
        .status
        .conditions
        .push(PriorityLevelConfigurationCondition::default());
    level.metadata.annotations.insert(KEEPS_ZERO.to_owned(), String::new());
    level.spec.type_ = "Limited".to_owned();
    let mut errors = FieldErrors::default();
    level.validate(&mut errors);
    let found: Vec<String> = errors.as_slice().iter().map(|error| error.message()).collect();
    assert_eq!(
        found,
        [
            "metadata.annotations: Forbidden: annotation \
             'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden",
            "spec.limited: Required value: must not be empty when type is Limited",
            "status.conditions[0].type: Required value",
        ]
    );
}
