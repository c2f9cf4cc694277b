//! The types of values of custom kinds, which follow from the OpenAPI v3 document of the kind.

use planesmith_dynamic::testing::kind;
use planesmith_machinery::scheme::Scheme;
use serde_json::{Value, json};

use super::{apply, by};

/// The fields that the applier of `spec` owns, if a kind has it with this schema; or the refusal.
fn owned(schema: &Value, spec: &Value) -> Result<Value, String> {
    let [kind, _] = kind(&json!({"properties": {"spec": schema}}));
    let document = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
    let applied = apply(&*kind.zero(), &document, &by("a"), false, &Scheme::new());
    let applied = applied.map_err(|error| error.to_api_error("w").message().to_owned())?;
    let fields = applied.managed_fields[0].fields_v1.as_ref().expect("fields").as_str();
    let fields: Value = serde_json::from_str(fields).expect("JSON");
    Ok(fields["f:spec"].clone())
}

fn mismatch(why: &str) -> Result<Value, String> {
    Err(format!("failed to create typed patch object (w): .spec{why}"))
}

#[test]
fn an_object_without_declared_fields_is_free_form() {
    let schema = json!({"type": "object", "properties": {"empty": {"type": "object"}}});
    let fields = json!({"f:empty": {"f:foo": {}, "f:l": {}}});
    assert_eq!(owned(&schema, &json!({"empty": {"foo": 1, "l": [1]}})), Ok(fields));
    assert_eq!(
        owned(&schema, &json!({"other": 1})),
        mismatch(".other: field not declared in schema")
    );
}

#[test]
fn an_object_that_excludes_other_fields_declares_none_of_them() {
    for schema in [
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": false}),
    ] {
        let expected = mismatch(".b: field not declared in schema");
        assert_eq!(owned(&schema, &json!({"b": 1})), expected);
    }
}

#[test]
fn objects_inside_an_object_with_unknown_fields_have_such_too() {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
        "nested": {"type": "object", "properties": {"a": {"type": "string"}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}}});
    let spec = json!({"nested": {"a": "x", "z": 1}, "list": [{"z": 1}], "other": {"q": 1}});
    let fields = json!({"f:nested": {"f:a": {}, "f:z": {}}, "f:list": {}, "f:other": {".": {}, "f:q": {}}});
    assert_eq!(owned(&schema, &spec), Ok(fields));
    let spec = json!({"nested": {"a": 1}});
    let expected = ".nested.a: expected string, got &value.valueUnstructured{Value:1}";
    assert_eq!(owned(&schema, &spec), mismatch(expected));
}

#[test]
fn an_embedded_resource_has_metadata_whatever_its_schema_declares() {
    let metadata = json!({"name": "q", "finalizers": ["a/b"],
                          "ownerReferences": [{"apiVersion": "v1", "kind": "x", "name": "n", "uid": "u"}]});
    let fields = json!({"f:apiVersion": {}, "f:kind": {}, "f:metadata": {
        "f:name": {}, "f:finalizers": {"v:\"a/b\"": {}}, "f:ownerReferences": {"k:{\"uid\":\"u\"}": {}}}});
    for schema in [
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object"}}}),
    ] {
        let spec = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
        assert_eq!(owned(&schema, &spec), Ok(fields.clone()));
        for (spec, why) in [
            (
                json!({"metadata": {"foo": 1}}),
                ".metadata.foo: field not declared in schema",
            ),
            (
                json!({"apiVersion": 1}),
                ".apiVersion: expected string, got &value.valueUnstructured{Value:1}",
            ),
        ] {
            assert_eq!(owned(&schema, &spec), mismatch(why));
        }
    }
}

#[test]
fn values_without_a_type_can_be_anything() {
    let schema = json!({"type": "object", "properties": {
        "number": {"x-kubernetes-int-or-string": true},
        "any": {"x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string"}}}}});
    let fields = json!({"f:number": {"f:a": {}}, "f:any": {}});
    assert_eq!(owned(&schema, &json!({"number": {"a": 1}, "any": [1]})), Ok(fields));
    let fields = json!({"f:number": {}});
    assert_eq!(owned(&schema, &json!({"number": [1]})), Ok(fields));
    let expected = ".any.a: expected string, got &value.valueUnstructured{Value:1}";
    assert_eq!(owned(&schema, &json!({"any": {"a": 1}})), mismatch(expected));
}

#[test]
fn texts_of_a_format_can_be_any_scalar() {
    let schema = |format: &str| json!({"type": "object", "properties": {"a": {"type": "string", "format": format}}});
    for format in ["date-time", "uri", "uuid"] {
        assert_eq!(
            owned(&schema(format), &json!({"a": 5})),
            Ok(json!({"f:a": {}})),
            "{format}"
        );
        let expected = ".a: expected any scalar, got &{map[b:1]}";
        assert_eq!(
            owned(&schema(format), &json!({"a": {"b": 1}})),
            mismatch(expected),
            "{format}"
        );
    }
    let expected = ".a: expected string, got &value.valueUnstructured{Value:5}";
    assert_eq!(owned(&schema("byte"), &json!({"a": 5})), mismatch(expected));
}
