//! Apply configurations, which have no manager.

use super::*;

fn apply_to(live: &Value, configuration: &Value) -> Result<Value, String> {
    let applied = apply_configuration(&Thing::default(), &document(live), &json!({"spec": configuration}));
    applied.map(|applied| applied["spec"].clone())
}

#[test]
fn fields_are_merged_and_none_is_removed() {
    let live = json!({
        "parts": [{"name": "a", "size": 1}, {"name": "b", "size": 2}],
        "tags": ["x"],
        "labels": {"k": "v"},
        "replicas": 1,
    });
    let configuration = json!({
        "parts": [{"name": "b", "protocol": "TCP", "off": true}],
        "tags": ["y"],
        "labels": {"l": "w"},
        "paused": true,
    });
    let applied = apply_to(&live, &configuration);
    let expected = json!({
        "parts": [{"name": "a", "size": 1}, {"name": "b", "protocol": "TCP", "size": 2, "off": true}],
        "tags": ["x", "y"],
        "labels": {"k": "v", "l": "w"},
        "replicas": 1,
        "paused": true,
    });
    assert_eq!(applied, Ok(expected));
}

#[test]
fn atomic_values_and_unknown_fields_are_refused() {
    let configuration = json!({"args": ["a"], "selector": {"a": "b"}});
    let refused = apply_to(&json!({}), &configuration);
    assert_eq!(
        refused,
        Err(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.args, .spec.selector"
                .to_owned()
        )
    );
    let refused = apply_to(&json!({}), &json!({"nosuch": 1}));
    assert_eq!(
        refused,
        Err("failed to convert patch object to typed object: .spec.nosuch: field not declared in schema".to_owned())
    );
}
