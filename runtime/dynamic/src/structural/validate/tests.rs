use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::structural::SharedSchemas;

/// The errors of a document whose field `x` has a schema, each with its field and reason.
fn errors(x: &Value, document: &Value) -> Vec<String> {
    let schema = Structural::compile(&json!({"type": "object", "properties": {"x": x}}));
    let mut errors = FieldErrors::default();
    schema.validate(document, "", &mut errors);
    written(&errors)
}

fn written(errors: &FieldErrors) -> Vec<String> {
    errors
        .as_slice()
        .iter()
        .map(planesmith_machinery::field_error::FieldError::message)
        .collect()
}

#[expect(clippy::needless_pass_by_value, reason = "tables read better without references")]
fn check(schema: Value, value: Value, expected: &[&str]) {
    let found = errors(&schema, &json!({"x": value}));
    assert_eq!(found, expected, "{value} against {schema}");
}

#[test]
fn types() {
    let wrong = |value: Value, schema: Value, message: &str| check(schema, value, &[message]);
    for (schema, good) in [
        (json!({"type": "string"}), json!("a")),
        (json!({"type": "integer"}), json!(1)),
        (json!({"type": "integer"}), json!(3.0)),
        (json!({"type": "number"}), json!(1)),
        (json!({"type": "number"}), json!(1.5)),
        (json!({"type": "boolean"}), json!(true)),
        (json!({"type": "array", "items": {"type": "string"}}), json!(["a"])),
        (json!({"type": "string", "nullable": true}), Value::Null),
        (json!({"x-kubernetes-int-or-string": true}), json!(1)),
        (json!({"x-kubernetes-int-or-string": true}), json!("a")),
        (json!({"x-kubernetes-preserve-unknown-fields": true}), json!([1, {}])),
        (json!({"type": "string", "format": "no-such-format"}), json!("a")),
    ] {
        check(schema, good, &[]);
    }
    wrong(
        json!(5),
        json!({"type": "string"}),
        r#"x: Invalid value: "integer": x in body must be of type string: "integer""#,
    );
    wrong(
        json!("5"),
        json!({"type": "integer"}),
        r#"x: Invalid value: "string": x in body must be of type integer: "string""#,
    );
    wrong(
        json!(null),
        json!({"type": "object"}),
        r#"x: Invalid value: "null": x in body must be of type object: "null""#,
    );
    wrong(
        json!(1.5),
        json!({"x-kubernetes-int-or-string": true}),
        r#"x: Invalid value: "number": x in body must be of type integer,string: "number""#,
    );
    wrong(
        json!(5),
        json!({"type": "string", "format": "date-time"}),
        r#"x: Invalid value: "int64": x in body must be of type date-time: "int64""#,
    );
    wrong(
        json!("yesterday"),
        json!({"type": "string", "format": "date-time"}),
        r#"x: Invalid value: "yesterday": x in body must be of type date-time: "yesterday""#,
    );
}

#[test]
fn numbers() {
    check(
        json!({"type": "integer"}),
        json!(1.5),
        &[
            r#"x: Invalid value: "number": x in body must be of type integer: "number""#,
            r#"<nil>: Invalid value: "": Checked value must be of type integer (default format) in x"#,
        ],
    );
    check(
        json!({"type": "integer", "format": "int32"}),
        json!(3_000_000_000_u32),
        &[r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x"#],
    );
    check(
        json!({"type": "number", "format": "float"}),
        json!(1e300),
        &[r#"<nil>: Invalid value: "": Checked value must be of type number with format float in x"#],
    );
    check(
        json!({"type": "integer", "minimum": 1, "maximum": 10}),
        json!(0),
        &["x: Invalid value: 0: x in body should be greater than or equal to 1"],
    );
    check(
        json!({"type": "integer", "maximum": 10, "exclusiveMaximum": true}),
        json!(10),
        &["x: Invalid value: 10: x in body should be less than 10"],
    );
    check(
        json!({"type": "number", "minimum": 0.5, "exclusiveMinimum": true}),
        json!(0.5),
        &["x: Invalid value: 0.5: x in body should be greater than 0.5"],
    );
    check(
        json!({"type": "number", "multipleOf": 0.5}),
        json!(0.75),
        &["x: Invalid value: 0.75: x in body should be a multiple of 0.5"],
    );
    check(
        json!({"type": "integer", "multipleOf": 5}),
        json!(7),
        &["x: Invalid value: 7: x in body should be a multiple of 5"],
    );
    check(
        json!({"type": "integer", "maximum": 1.5}),
        json!(2),
        &[
            r#"<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in x"#,
            "x: Invalid value: 2: x in body should be less than or equal to 1.5",
        ],
    );
    check(json!({"type": "number", "multipleOf": 0.1}), json!(0.3), &[]);
}

#[test]
fn texts() {
    check(
        json!({"type": "string", "maxLength": 3}),
        json!("abcd"),
        &["x: Too long: may not be more than 3 bytes"],
    );
    check(
        json!({"type": "string", "maxLength": 3}),
        json!("\u{e4}\u{f6}\u{fc}"),
        &[],
    );
    check(
        json!({"type": "string", "minLength": 2}),
        json!("a"),
        &[r#"x: Invalid value: "a": x in body should be at least 2 chars long"#],
    );
    check(
        json!({"type": "string", "pattern": "^[a-z]+$"}),
        json!("A"),
        &[r#"x: Invalid value: "A": x in body should match '^[a-z]+$'"#],
    );
    check(
        json!({"type": "string", "enum": ["fast", "slow"]}),
        json!("x"),
        &[r#"x: Unsupported value: "x": supported values: "fast", "slow""#],
    );
    check(
        json!({"type": "integer", "enum": [1, 2]}),
        json!(3),
        &[r#"x: Unsupported value: 3: supported values: "1", "2""#],
    );
    check(
        json!({"type": "string", "nullable": true, "enum": ["a"]}),
        Value::Null,
        &[r#"x: Unsupported value: null: supported values: "a""#],
    );
}

#[test]
fn lists_and_objects() {
    check(
        json!({"type": "array", "items": {"type": "string"}, "maxItems": 3}),
        json!(["a", 1, null, "b"]),
        &[
            r#"x[1]: Invalid value: "integer": x[1] in body must be of type string: "integer""#,
            r#"x[2]: Invalid value: "null": x[2] in body must be of type string: "null""#,
            "x: Too many: 4: must have at most 3 items",
        ],
    );
    check(
        json!({"type": "array", "items": {"type": "string", "maxLength": -1}, "maxItems": -2, "minItems": -1}),
        json!([""]),
        &[
            "x[0]: Too long: value is too long",
            "x: Too many: 1: has too many items",
        ],
    );
    check(
        json!({"type": "object", "maxProperties": -1, "minProperties": -1}),
        json!({}),
        &["x: Too many: 0: has too many items"],
    );
    check(
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
        json!([]),
        &["x: Invalid value: 0: x in body should have at least 1 items"],
    );
    check(
        json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
        json!(["a", "a"]),
        &[r#"x: Invalid value: "": x in body shouldn't contain duplicates"#],
    );
    check(
        json!({"type": "object", "additionalProperties": {"type": "string", "maxLength": 4}, "maxProperties": 1}),
        json!({"a": "12345", "b": "1"}),
        &[
            "x: Too many: 2: must have at most 1 item",
            "x.a: Too long: may not be more than 4 bytes",
        ],
    );
    check(
        json!({"type": "object", "minProperties": 1}),
        json!({}),
        &["x: Invalid value: 0: x in body should have at least 1 properties"],
    );
    check(
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {
            "type": "array", "items": {"type": "object", "properties": {"y": {"type": "string"}}, "required": ["y"]}}}}),
        json!({"b": [{"y": ""}, {}]}),
        &["x.b[1].y: Required value", "x.a: Required value"],
    );
}

#[test]
fn combined_schemas() {
    check(
        json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({}),
        &[
            r#"<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid"#,
            "x.a: Required value",
        ],
    );
    check(
        json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}}}),
        json!({"a": "", "b": ""}),
        &[r#"<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives"#],
    );
    check(
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!(true),
        &[
            r#"x: Invalid value: "boolean": x in body must be of type integer,string: "boolean""#,
            r#"<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)"#,
            r#"x: Invalid value: "boolean": x in body must be of type integer: "boolean""#,
        ],
    );
    check(
        json!({"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 5}]}),
        json!(2),
        &[
            "x: Invalid value: 2: x in body should be greater than or equal to 3",
            r#"<nil>: Invalid value: "": "x" must validate all the schemas (allOf)"#,
        ],
    );
    check(
        json!({"type": "integer", "allOf": [{"minimum": 3}]}),
        json!(2),
        &[
            "x: Invalid value: 2: x in body should be greater than or equal to 3",
            r#"<nil>: Invalid value: "": "x" must validate all the schemas (allOf). None validated"#,
        ],
    );
    check(
        json!({"type": "string", "not": {"enum": ["a"]}}),
        json!("a"),
        &[r#"<nil>: Invalid value: "": "x" must not validate the schema (not)"#],
    );
}

#[test]
fn the_alternative_that_came_furthest_is_explained() {
    check(
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "anyOf": [
            {"required": ["c"]},
            {"properties": {"a": {"enum": [1]}, "b": {"enum": [1]}}, "required": ["d"]}]}),
        json!({"a": 1, "b": 1}),
        &[
            r#"<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)"#,
            "x.d: Required value",
        ],
    );
}

#[test]
fn fields_of_a_part_are_named_below_it() {
    let schema = Structural::compile(&json!({"type": "object", "required": ["a"], "properties": {
        "phase": {"type": "string"}}, "not": {"required": ["phase"]}}));
    let mut errors = FieldErrors::default();
    schema.validate(&json!({"phase": 1}), "status", &mut errors);
    assert_eq!(
        written(&errors),
        [
            r#"status: Invalid value: "": "" must not validate the schema (not)"#,
            r#"status.phase: Invalid value: "integer": phase in body must be of type string: "integer""#,
            "status.a: Required value",
        ]
    );
}

/// The errors of a new spec in place of an old one.
fn update_errors(new: &Value, old: &Value) -> Vec<String> {
    let schema = Structural::compile(
        &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 3},
        "l": {"type": "array", "items": {"type": "string", "maxLength": 2}},
        "o": {"type": "object", "required": ["z"], "properties": {"x": {"type": "string"}, "z": {"type": "string"}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "required": ["z"]},
        "m": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
              "items": {"type": "object", "properties": {
                  "name": {"type": "string"}, "v": {"type": "integer", "maximum": 1}, "w": {"type": "integer"}}}}}}}}),
    );
    let mut errors = FieldErrors::default();
    schema.validate_update(&json!({"spec": new}), &json!({"spec": old}), "", &mut errors);
    written(&errors)
}

#[test]
fn unchanged_errors_are_tolerated() {
    const LONG: &str = "spec.a: Too long: may not be more than 3 bytes";
    let old = json!({"a": "too long", "l": ["abc"], "o": {"x": "1"},
                     "m": [{"name": "p", "v": 2}, {"name": "q", "v": 3, "w": 1}]});
    let with = |name: &str, value: Value| {
        let mut new = old.clone();
        new[name] = value;
        update_errors(&new, &old)
    };
    assert_eq!(update_errors(&old, &old), [""; 0]);
    assert_eq!(with("a", json!("still too long")), [LONG]);
    assert_eq!(with("a", json!("ok")), [""; 0]);
    assert_eq!(
        with("l", json!(["abc", "d"])),
        ["spec.l[0]: Too long: may not be more than 2 bytes"]
    );
    assert_eq!(with("o", json!({"x": "2"})), ["spec.o.z: Required value"]);
    assert_eq!(
        with("m", json!([{"name": "q", "v": 3, "w": 2}, {"name": "p", "v": 2}])),
        [""; 0]
    );
    assert_eq!(
        with("m", json!([{"name": "p", "v": 4}, {"name": "new", "v": 5}])),
        [
            "spec.m[0].v: Invalid value: 4: spec.m[0].v in body should be less than or equal to 1",
            "spec.m[1].v: Invalid value: 5: spec.m[1].v in body should be less than or equal to 1",
        ]
    );
    // An object with unknown fields is never the same.
    let free = json!({"free": {"k": 1}});
    assert_eq!(update_errors(&free, &free), ["spec.free.z: Required value"]);
    let empty = json!({"free": {}});
    assert_eq!(update_errors(&empty, &empty), [""; 0]);
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e30..1e30).prop_map(Value::from),
        "[a-c.:/0-9{}\\[\\]\\\\^$*+?-]{0,8}".prop_map(Value::from),
    ];
    let name = prop::sample::select(vec!["a", "b", "metadata", "kind", "apiVersion"]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())),
        ]
    })
}

fn any_schema() -> impl Strategy<Value = Value> {
    const TYPES: [&str; 7] = ["", "object", "array", "string", "integer", "number", "boolean"];
    const FORMATS: [&str; 8] = ["", "date-time", "duration", "uri", "email", "hostname", "uuid", "int32"];
    let leaf = (
        (0..TYPES.len(), 0..FORMATS.len(), any::<bool>(), any::<bool>()),
        (any::<i64>(), -10.0..10.0, 0_u64..4),
        "[a-c.0-9{}()\\[\\]\\\\^$*+?|-]{0,8}",
        anything(),
    )
        .prop_map(|((ty, format, flag, other), (bound, factor, count), pattern, value)| {
            json!({
                "type": TYPES[ty], "format": FORMATS[format], "nullable": flag, "default": value, "enum": [value],
                "x-kubernetes-embedded-resource": other, "minimum": bound, "exclusiveMinimum": flag,
                "multipleOf": factor, "maxLength": count, "minLength": count, "pattern": pattern, "maxItems": count,
                "uniqueItems": flag, "required": ["a"], "x-kubernetes-int-or-string": other && ty == 0,
            })
        });
    leaf.prop_recursive(3, 16, 4, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..4), 0..6_usize).prop_map(|(mut schema, inner, location)| {
            if let Value::Object(entries) = &mut schema {
                let mut inner = inner.into_iter();
                let first = inner.next().unwrap_or_default();
                match location {
                    0 => {
                        let named = ["a", "b", "metadata"].map(str::to_owned).into_iter().zip(inner);
                        entries.insert("properties".to_owned(), Value::Object(Map::from_iter(named)));
                    }
                    1 => drop(entries.insert("additionalProperties".to_owned(), first)),
                    2 => {
                        entries.insert("items".to_owned(), first);
                        entries.insert("x-kubernetes-list-type".to_owned(), json!("map"));
                        entries.insert("x-kubernetes-list-map-keys".to_owned(), json!(["a", "b"]));
                    }
                    3 => drop(entries.insert("oneOf".to_owned(), inner.collect())),
                    4 => drop(entries.insert("anyOf".to_owned(), inner.collect())),
                    _ => drop(entries.insert("not".to_owned(), first)),
                }
            }
            schema
        })
    })
}

proptest! {
    #[test]
    fn nothing_panics(schema in any_schema(), mut document in anything(), old in anything()) {
        let schema = Structural::compile(&schema);
        let mut errors = FieldErrors::default();
        schema.validate_update(&document, &old, "", &mut errors);
        schema.check_embedded(&document, &mut errors);
        schema.check_lists(&document, &mut errors);
        schema.validate_update(&document, &document, "", &mut errors);
        let _ = schema.prune(&mut document);
        schema.fill_defaults(&mut document);
        let _ = schema.complete_embedded(&mut document, crate::structural::Malformed::Dropped);
    }

    /// Fields that pruning leaves are known.
    #[test]
    fn pruning_leaves_what_is_known(schema in any_schema(), mut document in anything()) {
        let schema = Structural::compile(&schema);
        let _ = schema.prune(&mut document);
        let mut again = document.clone();
        prop_assert_eq!(schema.prune(&mut again).into_paths(), Vec::<String>::new());
        prop_assert_eq!(again, document);
    }

    /// Parts that are shared are what they would be alone.
    #[test]
    fn sharing_changes_nothing(first in any_schema(), second in any_schema()) {
        let mut shared = SharedSchemas::default();
        let both = json!({"type": "object", "properties": {"first": first, "second": second}, "items": first});
        for schema in [&first, &second, &both] {
            prop_assert_eq!(&*Structural::compile_shared(schema, &mut shared), &Structural::compile(schema));
        }
    }

    /// A list that is as it was has no errors that its elements had before.
    #[test]
    fn an_unchanged_value_has_no_errors(value in anything()) {
        let schema = Structural::compile(&json!({"type": "object", "properties": {"x": {
            "type": "string", "x-kubernetes-preserve-unknown-fields": true}}}));
        let document = json!({"x": value});
        let mut errors = FieldErrors::default();
        schema.validate_update(&document, &document, "", &mut errors);
        let has_unknown = value.as_object().is_some_and(|entries| !entries.is_empty());
        prop_assert!(errors.is_empty() || has_unknown);
    }
}

#[test]
fn patterns_take_no_more_time_than_there_is_for_a_document() {
    // Automata of many states: each byte may be met by all of them.
    let text = json!({"type": "string", "pattern": r"^(\pL{1,3}x){2}$"});
    let schema = Structural::compile(&json!({"type": "array", "items": text}));
    let errors = |count: usize| {
        let mut errors = FieldErrors::default();
        schema.validate(&json!(vec!["!".repeat(60_000); count]), "", &mut errors);
        errors
    };
    let is_refused = |error: &planesmith_machinery::field_error::FieldError| {
        error.message().contains("takes too long for so much text")
    };
    assert!(!errors(1).as_slice().iter().any(is_refused));
    assert!(errors(20).as_slice().iter().any(is_refused));
}

#[test]
fn fields_without_schema_are_refused_where_none_are_allowed() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false});
    check(schema.clone(), json!({"a": 1}), &[]);
    check(
        schema,
        json!({"a": 1, "b": 1}),
        &[r#"x: Invalid value: "b": x.b in body is a forbidden property"#],
    );
}
