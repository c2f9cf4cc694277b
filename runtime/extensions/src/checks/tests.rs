use std::borrow::Cow;
use std::sync::Arc;

use planesmith_dynamic::custom::{self, AsCustom, CustomKind, CustomVersion};
use planesmith_machinery::json::Strictness;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, ResourceTable, ScaleFacts, SubresourceFacts, SubresourceKind};
use planesmith_machinery::strategy::Context;
use planesmith_machinery::validation;
use serde_json::json;

use super::*;

fn kind() -> ResourceFacts {
    const SCALE: SubresourceFacts = SubresourceFacts {
        name: "scale",
        kind: SubresourceKind::Scale(ScaleFacts {
            spec_replicas: Cow::Borrowed("spec.want"),
            status_replicas: Cow::Borrowed("status.have"),
            selector: Cow::Borrowed("status.pick"),
        }),
    };
    const STATUS: SubresourceFacts = SubresourceFacts {
        name: "status",
        kind: SubresourceKind::Status,
    };
    let schema = Structural::compile(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "want": {"type": "integer"},
            "name": {"type": "string", "maxLength": 3},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}},
            "x-kubernetes-validations": [{"rule": "true"}]},
        "status": {"type": "object", "properties": {
            "have": {"type": "integer"}, "phase": {"type": "string"}, "pick": {"type": "string"}}}}}));
    let version = CustomVersion {
        table: ResourceTable {
            group: Cow::Borrowed("example.com"),
            version: Cow::Borrowed("v1"),
            api_version: Cow::Borrowed("example.com/v1"),
            kind: Cow::Borrowed("Flock"),
            subresources: Cow::Borrowed(&[STATUS, SCALE]),
            ..CustomKind::FACTS
        },
        schema: Arc::new(schema),
        checks: Arc::new(SchemaChecks::default()),
    };
    CustomKind::define(vec![version], 0, None).remove(0)
}

fn flock(content: Value) -> Box<dyn Object> {
    let mut document = json!({"metadata": {"name": "f", "namespace": "n", "resourceVersion": "1", "uid": "u"}});
    if let (Value::Object(document), Value::Object(content)) = (&mut document, content) {
        document.extend(content);
    }
    let mut object = kind().zero();
    custom::decode(document.to_string().as_bytes(), &mut *object, Strictness::Lenient).expect("a flock");
    object
}

fn written(errors: &FieldErrors) -> Vec<String> {
    errors.as_slice().iter().map(FieldError::message).collect()
}

const UNCHECKED: &str = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

#[test]
fn new_objects() {
    let errors = |content| written(&validation::check_create(&*flock(content), &Context::default()));
    assert_eq!(errors(json!({"spec": {"want": 1}})), [""; 0]);
    assert_eq!(
        errors(json!({"spec": {"want": -1}})),
        [".spec.want: Invalid value: -1: should be a non-negative integer"]
    );
    assert_eq!(
        errors(
            json!({"spec": {"want": "x", "name": "long", "set": ["a", "a"]}, "status": {"have": 3_000_000_000_i64}})
        ),
        [
            "spec.name: Too long: may not be more than 3 bytes",
            r#"spec.want: Invalid value: "string": spec.want in body must be of type integer: "string""#,
            ".spec.want: Invalid value: 0: .spec.want accessor error: x is of the type string, expected int64",
            ".status.have: Invalid value: 3000000000: should be less than or equal to 2147483647",
            r#"spec.set[1]: Duplicate value: "a""#,
            UNCHECKED,
        ]
    );
    assert_eq!(
        errors(json!({"spec": 5, "status": {"pick": 5}}))[2..4],
        [
            ".spec.want: Invalid value: 0: .spec.want accessor error: 5 is of the type int64, expected map[string]interface{}",
            r#".status.pick: Invalid value: "": .status.pick accessor error: 5 is of the type int64, expected string"#,
        ]
    );
}

#[test]
fn changed_objects() {
    let errors = |new, old| {
        written(&validation::check_update(
            &*flock(new),
            &*flock(old),
            &Context::default(),
        ))
    };
    let old = json!({"spec": {"name": "long", "set": ["a", "a"]}});
    assert_eq!(errors(old.clone(), old.clone()), [""; 0]);
    assert_eq!(
        errors(json!({"spec": {"name": "long", "set": ["b", "b"]}}), old.clone()),
        [""; 0]
    );
    assert_eq!(
        errors(json!({"spec": {"name": "other"}}), old),
        ["spec.name: Too long: may not be more than 3 bytes", UNCHECKED]
    );
    assert_eq!(
        errors(json!({"spec": {"set": ["b", "b"]}}), json!({})),
        [r#"spec.set[1]: Duplicate value: "b""#]
    );
}

#[test]
fn statuses() {
    let errors = |new, old| {
        written(&validation::check_status_update(
            &*flock(new),
            &*flock(old),
            &Context::default(),
        ))
    };
    let phase = r#"status.phase: Invalid value: "integer": phase in body must be of type string: "integer""#;
    let spec = json!({"name": "long", "want": -1});
    assert_eq!(
        errors(json!({"spec": spec, "status": {"phase": "x"}}), json!({"spec": spec})),
        [""; 0]
    );
    assert_eq!(errors(json!({"status": {"phase": 1}}), json!({})), [phase, UNCHECKED]);
    assert_eq!(
        errors(
            json!({"status": {"phase": 1, "have": 1}}),
            json!({"status": {"phase": 1}})
        ),
        [""; 0]
    );
    assert_eq!(
        errors(json!({"status": {"have": -1}}), json!({})),
        [".status.have: Invalid value: -1: should be a non-negative integer"]
    );
}

/// True if updating `old` to `new` reports a rule that both violate.
fn broken_before(schema: &Value, old: &Value, new: &Value) -> bool {
    let mut schema = json!({"type": "object", "properties": {"spec": schema}});
    schema["properties"]["spec"]["x-kubernetes-validations"] = json!([{"rule": "false", "message": "never"}]);
    let schema = Structural::compile(&schema);
    let mut errors = FieldErrors::default();
    let (old, new) = (json!({"spec": old}), json!({"spec": new}));
    Rules::compile(&schema).check(&schema, &new, Some(&old), &mut errors);
    !errors.is_empty()
}

#[test]
fn rules_let_pass_what_did_not_change_and_is_known() {
    let number = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    assert!(!broken_before(&number, &json!({"a": 1}), &json!({"a": 1})));
    assert!(broken_before(&number, &json!({"a": 1}), &json!({"a": 2})));
    // Unknown fields are not comparable, so they never count as unchanged.
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    assert!(broken_before(&open, &json!({"a": 1}), &json!({"a": 1})));
    let item = json!({"type": "object", "properties": {"k": {"type": "string"}}});
    let keyed =
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item});
    let lists = json!({"type": "object", "properties": {"l": keyed}});
    let list = |keys: [&str; 2]| json!({"l": keys.map(|key| json!({"k": key}))});
    assert!(!broken_before(&lists, &list(["a", "b"]), &list(["b", "a"])));
    assert!(broken_before(&lists, &list(["a", "b"]), &list(["a", "c"])));
}

#[test]
fn a_number_with_a_point_is_no_integer_to_rules() {
    let schema = json!({"type": "object", "properties": {"a": {
        "type": "integer", "x-kubernetes-validations": [{"rule": "self > 1", "message": "more"}],
    }}});
    let schema = Structural::compile(&schema);
    let mut errors = FieldErrors::default();
    Rules::compile(&schema).check(&schema, &json!({"a": 2.0}), None, &mut errors);
    let expected = "a: Invalid value: \"integer\": invalid data, expected int, got float64 evaluating rule: more";
    assert_eq!(written(&errors), [expected]);
}

/// Returns the cost of checking an object of 1,000 and one of 60,000 bytes by a schema, after checking `first`.
fn costs(schema: &Value, first: &Value) -> [u64; 2] {
    let schema = Structural::compile(schema);
    let checks = SchemaChecks::default();
    assert_eq!(checks.cost(&schema, 1000), FIRST, "nothing is compiled yet");
    let kind = kind();
    let mut object = kind.zero();
    custom::decode(first.to_string().as_bytes(), &mut *object, Strictness::Lenient).expect("a flock");
    let object = object.as_custom().expect("it is custom");
    checks.check(&schema, object, &mut FieldErrors::default());
    [1000, 60_000].map(|bytes| checks.cost(&schema, bytes))
}

#[test]
fn expressions_and_patterns_decide_what_checks_cost() {
    const MILLISECOND: u64 = 1_000_000;
    let rule = |rule: &str| {
        json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {
                "want": {"type": "integer"}, "name": {"type": "string"},
                "set": {"type": "array", "items": {"type": "string"}}},
            "x-kubernetes-validations": [{"rule": rule}]}}})
    };
    let first = json!({"spec": {"want": 1, "name": "a", "set": ["a"]}});
    let [small, large] = costs(&rule("self.want > 0"), &first);
    assert!(
        small < MILLISECOND / 100 && large < MILLISECOND / 100,
        "{small}, {large}"
    );
    let [small, large] = costs(&rule("self.name.startsWith('a')"), &first);
    assert!(small < MILLISECOND / 10 && large < MILLISECOND, "{small}, {large}");
    let [small, large] = costs(&rule("self.set.all(a, self.set.all(b, a <= b))"), &first);
    assert!(small > MILLISECOND && large > 100 * MILLISECOND, "{small}, {large}");

    let pattern = |pattern: &str| {
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "name": {"type": "string", "pattern": pattern}}}}})
    };
    let [small, large] = costs(&pattern("^[a-z]+$"), &first);
    assert!(small < MILLISECOND / 10 && large < 5 * MILLISECOND, "{small}, {large}");
    let [small, large] = costs(&pattern(r"^(\pL{1,9}x){1,3}$"), &first);
    assert!(small > MILLISECOND / 2 && large > 100 * MILLISECOND, "{small}, {large}");
    let [small, large] = costs(&json!({"type": "object"}), &first);
    assert_eq!((small, large), (0, 0));
}
