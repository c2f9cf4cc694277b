use planesmith_machinery::field_error::FieldErrors;
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
fn fields_are_pruned_outside_of_the_status_beyond_the_listed_ones() {
    let schema = schema(&json!({"status": {"type": "object"}, "spec": {"type": "object"}}));
    let many: serde_json::Map<String, Value> = (0..200).map(|number| (number.to_string(), json!(1))).collect();
    let prune = |document: Value| schema.prune(&mut document.clone());
    let paths = prune(json!({"status": many, "zone": 1}));
    assert!(paths.has_any_outside_status());
    assert!(paths.into_paths().iter().all(|path| path.starts_with("status.")));
    let paths = prune(json!({"status": many, "spec": {"status": 1}}));
    assert!(paths.has_any_outside_status());
    let paths = prune(json!({"status": many}));
    assert!(!paths.is_empty() && !paths.has_any_outside_status());
    assert!(prune(json!({"status": {}})).is_empty());
}

#[test]
fn unknown_fields_are_dropped_and_named() {
    let schema = schema(&json!({
        "spec": {"type": "object", "properties": {
            "parts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                     "properties": {"known": {"type": "object"}}},
            "any": {"type": "object", "additionalProperties": true},
            "none": {"type": "object", "additionalProperties": false},
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
                "none": {"a": 1},
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
                "none": {"a": 1},
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
        schema.drop_nulls(&mut document);
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

#[test]
fn elements_that_stand_twice_are_found() {
    let schema = schema(&json!({
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "one": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
                "items": {"type": "object"}},
        "two": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"],
                "items": {"type": "object"}},
        "maps": {"type": "object", "additionalProperties": {
            "type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}}}
    }));
    let found = |document: Value| {
        let mut errors = FieldErrors::default();
        schema.check_lists(&document, &mut errors);
        let messages = errors.as_slice().iter().map(|error| error.message());
        messages.collect::<Vec<String>>()
    };
    assert_eq!(
        found(json!({"set": ["a", "b", "a", "a"]})),
        [r#"set[2]: Duplicate value: "a""#]
    );
    assert_eq!(
        found(json!({"one": [{"id": "x", "v": 1}, {"id": "y"}, {"id": "x"}, {}, null]})),
        [r#"one[2]: Duplicate value: {"id":"x"}"#, "one[4]: Duplicate value: {}"]
    );
    assert_eq!(
        found(json!({"two": [{"a": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}]})),
        [r#"two[2]: Duplicate value: {"a":1,"b":2}"#]
    );
    assert_eq!(
        found(json!({"one": ["text"]})),
        [r#"one[0]: Invalid value: "text": must be an object for an array of list-type map"#]
    );
    assert_eq!(
        found(json!({"maps": {"k": [1, 1]}})),
        ["maps[k][1]: Duplicate value: 1"]
    );
}

#[test]
fn embedded_objects_are_completed_and_checked() {
    let schema = schema(&json!({
        "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "all": {"type": "object", "additionalProperties": {"type": "array", "items": {
            "type": "object", "x-kubernetes-embedded-resource": true}}}
    }));
    let completed = |mut document: Value| {
        let dropped = schema.complete_embedded(&mut document, Malformed::Refused);
        dropped
            .map(|dropped| (document, dropped))
            .map_err(|error| error.message())
    };
    let metadata = json!({"name": "x", "bogus": 1, "creationTimestamp": null});
    assert_eq!(
        completed(json!({"pod": {"metadata": metadata, "bogus": 1}, "all": {"k": [{"metadata": {"a": {}}}]}})),
        Ok((
            json!({"pod": {"metadata": {"name": "x"}, "bogus": 1}, "all": {"k": [{"metadata": {}}]}}),
            vec!["all[k][0].metadata.a".to_owned(), "pod.metadata.bogus".to_owned()]
        ))
    );
    assert_eq!(
        completed(json!({"pod": {"metadata": {"labels": {"a": 1}}}})),
        Err(
            r#"pod.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"#
                .to_owned()
        )
    );
    assert_eq!(
        completed(json!({"pod": {"kind": 3}})),
        Err("pod.kind: Invalid value: 3: must be a string".to_owned())
    );
    let mut stored = json!({"pod": {"kind": 3, "metadata": {"name": "x", "labels": 1}}});
    assert_eq!(
        schema.complete_embedded(&mut stored, Malformed::Dropped),
        Ok(Vec::new())
    );
    assert_eq!(stored, json!({"pod": {"metadata": {"name": "x"}}}));

    let mut errors = FieldErrors::default();
    let document = json!({"pod": {"metadata": {"name": "a/b"}}, "all": {"k": [
        {"apiVersion": "a/b/c", "kind": "Bad_Kind"}, {"apiVersion": "", "kind": "K"}]}});
    schema.check_embedded(&document, &mut errors);
    let messages: Vec<String> = errors.as_slice().iter().map(|error| error.message()).collect();
    assert_eq!(
        messages[0],
        r#"all[k][0].apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c"#
    );
    assert!(messages[1].starts_with(
        r#"all[k][0].kind: Invalid value: "Bad_Kind": may have mixed case, but should otherwise match: a DNS-1035"#
    ));
    assert_eq!(
        messages[2..],
        [
            r#"all[k][1].apiVersion: Invalid value: "": must not be empty"#,
            "pod.apiVersion: Required value",
            "pod.kind: Required value",
            r#"pod.metadata.name: Invalid value: "a/b": may not contain '/'"#,
        ]
    );
}

#[test]
fn defaults_are_pruned_themselves() {
    let schema = schema(
        &json!({"spec": {"type": "object", "default": {"a": 1, "b": 2}, "properties": {
        "a": {"type": "integer"}}}}),
    );
    let mut document = json!({});
    schema.fill_defaults(&mut document);
    assert_eq!(document, json!({"spec": {"a": 1}}));
}

#[test]
fn defaults_of_embedded_metadata_have_its_fields_only() {
    let meta = json!({"name": "Bar", "unknown": "unknown"});
    let object = json!({"apiVersion": "foos/v1", "kind": "Foo", "metadata": meta});
    let text = |default: &str| json!({"type": "string", "default": default});
    let of_fields = |metadata: Value| {
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
            "apiVersion": text("foos/v1"), "kind": text("Foo"), "metadata": metadata}})
    };
    let fields = of_fields(json!({"type": "object", "properties": {"name": text("Bar"), "unknown": text("unknown")}}));
    let full_metadata = of_fields(json!({"type": "object", "default": meta}));
    let embedded =
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"foo": {"type": "string"}}});
    let mut full_object = embedded.clone();
    full_object["default"] = object.clone();
    let spanning = json!({"type": "object", "properties": {"embedded": embedded}, "default": {"embedded": object}});
    let mut properties = json!({
        "fields": fields, "fullMetadata": full_metadata, "fullObject": full_object, "spanning": spanning});
    let mut preserving = properties.clone();
    for (name, place) in [
        ("fields", ""),
        ("fullMetadata", ""),
        ("fullObject", ""),
        ("spanning", "/properties/embedded"),
    ] {
        let schema = preserving.pointer_mut(&format!("/{name}{place}")).expect("a schema");
        schema["x-kubernetes-preserve-unknown-fields"] = true.into();
        properties[format!("preserve-{name}")] = preserving[name].clone();
    }
    let mut document = json!({
        "fields": {"metadata": {}}, "fullMetadata": {},
        "preserve-fields": {"metadata": {}}, "preserve-fullMetadata": {}});
    schema(&properties).fill_defaults(&mut document);
    let expected = json!({"apiVersion": "foos/v1", "kind": "Foo", "metadata": {"name": "Bar"}});
    for name in ["fields", "fullMetadata", "fullObject", "spanning/embedded"] {
        for prefix in ["", "preserve-"] {
            let place = format!("/{prefix}{name}");
            assert_eq!(document.pointer(&place), Some(&expected), "{place}");
        }
    }
}

#[test]
fn malformed_defaults_of_embedded_metadata_are_dropped() {
    let text = |default: Value| json!({"type": "string", "default": default});
    let schema = schema(&json!({"pods": {"type": "array", "items": {
        "type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {
            "type": "object",
            "default": {"labels": {"a": "b"}, "generation": "no number", "annotations": {"c": 1}},
            "properties": {
                "labels": {"type": "object", "default": {"a": "c"}, "additionalProperties": text(json!("d"))},
                "finalizers": {"type": "array", "items": text(json!("e/f"))},
                "generation": {"type": "integer", "default": "no number"},
                "ownerReferences": {"type": "array", "items": {"type": "object", "properties": {
                    "kind": text(json!("Pod")), "unknown": text(json!("u"))}}}}}}}}}));
    let mut document = json!({"pods": [
        {}, {"metadata": {"labels": {"x": null}, "finalizers": [null], "ownerReferences": [{}]}}]});
    schema.fill_defaults(&mut document);
    let expected = json!({"pods": [
        {"metadata": {"labels": {"a": "b"}}},
        {"metadata": {"labels": {"x": "d"}, "finalizers": ["e/f"], "ownerReferences": [{"kind": "Pod"}]}}]});
    assert_eq!(document, expected);
}
