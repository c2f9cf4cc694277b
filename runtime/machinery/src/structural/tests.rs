use serde_json::json;

use super::*;

fn schema(properties: &Value) -> Structural {
    Structural::compile(&json!({"type": "object", "properties": properties}))
}

fn pruned(schema: &Structural, mut document: Value) -> (Value, Vec<String>) {
    let paths = schema.prune(&mut document).into_paths();
    (document, paths)
}

#[test]
fn what_is_not_known_is_dropped_and_named() {
    let schema = schema(&json!({
        "spec": {"type": "object", "properties": {
            "parts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                     "properties": {"known": {"type": "object"}}},
            "any": {"type": "object", "additionalProperties": true},
            "pod": {"type": "object", "x-kubernetes-embedded-resource": true}
        }}
    }));
    let (document, paths) = pruned(
        &schema,
        json!({
            "apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "extra": 1,
            "spec": {
                "parts": [{"name": "a", "size": 1}],
                "labels": {"a": "b"},
                "open": {"what": {"ever": 1}, "known": {"not": 1}},
                "any": {"a": {"b": 1}},
                "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"a": 1}, "spec": {}},
                "nope": {}
            }
        }),
    );
    assert_eq!(
        document,
        json!({
            "apiVersion": "v1", "kind": "K", "metadata": {"name": "x"},
            "spec": {
                "parts": [{"name": "a"}],
                "labels": {"a": "b"},
                "open": {"what": {"ever": 1}, "known": {}},
                "any": {"a": {}},
                "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"a": 1}}
            }
        })
    );
    assert_eq!(
        paths,
        [
            "extra",
            "spec.any.a.b",
            "spec.nope",
            "spec.open.known.not",
            "spec.parts[0].size",
            "spec.pod.spec"
        ]
    );
}

#[test]
fn defaults_fill_gaps_and_nulls() {
    let schema = schema(&json!({
        "spec": {"type": "object", "default": {}, "properties": {
            "size": {"type": "integer", "default": 1},
            "name": {"type": "string", "nullable": true, "default": "n"},
            "parts": {"type": "array", "items": {"type": "object", "default": {}, "properties": {
                "on": {"type": "boolean", "default": true}}}},
            "plain": {"type": "string"},
            "labels": {"type": "object", "additionalProperties": {"type": "string", "default": "d"}}
        }}
    }));
    let filled = |mut document: Value| {
        schema.fill_defaults(&mut document);
        document
    };
    assert_eq!(filled(json!({})), json!({"spec": {"size": 1, "name": "n"}}));
    assert_eq!(
        filled(
            json!({"spec": {"size": null, "name": null, "plain": null, "parts": [null, {"on": false}], "labels": {"a": null}}})
        ),
        json!({"spec": {"size": 1, "name": null, "parts": [{"on": true}, {"on": false}], "labels": {"a": "d"}}})
    );
}
