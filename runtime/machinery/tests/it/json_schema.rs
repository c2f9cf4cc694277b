//! Schemas for schemars are what the tables say.

use std::collections::BTreeMap;

use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::json_schema::schemars::generate::SchemaSettings;
use planesmith_machinery::json_schema::schemars::{JsonSchema, Schema};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::raw::{AnyJson, RawExtension};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};
use serde_json::{Value, json};

/// Everything that a field can be.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Sink {
    /// The direction.
    #[field(one_of("In", "Out"), default = "In", expected)]
    way: String,
    #[field(minimum = 1, maximum = 9)]
    size: Option<i32>,
    #[field(keep)]
    revision: i64,
    ratio: f64,
    flag: bool,
    #[field(min_length = 1, max_length = 63, pattern = "^[a-z]+$", immutable)]
    name: String,
    secret: ByteString,
    at: Time,
    amount: Quantity,
    port: IntOrString,
    raw: RawExtension,
    any: AnyJson,
    #[field(list_type = set, max_length = 4, each(min_length = 1, max_length = 9))]
    tags: Vec<String>,
    /// The parts.
    #[field(list_type = map, list_map_keys("id"))]
    parts: Vec<Part>,
    #[field(atomic, max_length = 2)]
    labels: BTreeMap<String, String>,
    #[field(known("b", "a"))]
    modes: Vec<String>,
    #[field(keep, optional)]
    tally: i64,
    #[field(expected)]
    plan: String,
    #[field(inline)]
    rest: Rest,
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
struct Part {
    #[field(required)]
    id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Rest {
    #[field(required)]
    more: bool,
}

/// Contains itself, directly and through a map.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Tree {
    left: Option<Box<Tree>>,
    by_name: BTreeMap<String, Branch>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Branch {
    trees: Vec<Tree>,
}

/// An order.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
struct Order {
    metadata: ObjectMeta,
    /// The ordered part.
    spec: Part,
}

const HERE: &str = "it.json_schema";

fn schema<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    settings.into_generator().into_root_schema_for::<T>()
}

#[track_caller]
fn check<T: JsonSchema>(expected: &Value) {
    assert_eq!(schema::<T>(SchemaSettings::draft2020_12()).as_value(), expected);
}

/// Every reference that a schema holds.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(target) if key == "$ref" => found.push(target.clone()),
                    other => references(other, found),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| references(element, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[track_caller]
fn check_references(schema: &Schema) {
    let mut found = Vec::new();
    references(schema.as_value(), &mut found);
    assert!(!found.is_empty(), "the schema refers to nothing");
    for target in found {
        let definition = schema.pointer(&target);
        assert!(definition.is_some_and(Value::is_object), "{target} leads nowhere");
    }
}

#[test]
fn every_declared_fact_is_in_the_schema() {
    check::<Sink>(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{HERE}.Sink"),
        "description": "Everything that a field can be.",
        "type": "object",
        "required": ["way", "revision", "plan", "more"],
        "properties": {
            "way": {"type": "string", "description": "The direction.", "enum": ["In", "Out"], "default": "In"},
            "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 9},
            "revision": {"type": "integer", "format": "int64"},
            "ratio": {"type": "number", "format": "double"},
            "flag": {"type": "boolean"},
            "name": {
                "type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z]+$",
                "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "field is immutable"}],
            },
            "secret": {"type": "string", "format": "byte"},
            "at": {"type": "string", "format": "date-time"},
            "amount": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true},
            "port": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true},
            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
            "tags": {
                "type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 9}, "maxItems": 4,
                "x-kubernetes-list-type": "set",
            },
            "parts": {
                "type": "array", "items": {"$ref": format!("#/$defs/{HERE}.Part")}, "description": "The parts.",
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
            },
            "labels": {
                "type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2,
                "x-kubernetes-map-type": "atomic",
            },
            "modes": {"type": "array", "items": {"type": "string", "enum": ["b", "a"]}},
            "tally": {"type": "integer", "format": "int64"},
            "plan": {"type": "string"},
            "more": {"type": "boolean"},
        },
        "$defs": {
            format!("{HERE}.Part"): {
                "type": "object", "description": "A part.", "required": ["id"],
                "properties": {"id": {"type": "string"}}, "x-kubernetes-map-type": "atomic",
            },
        },
    }));
}

#[test]
fn a_struct_that_contains_itself_refers_to_itself() {
    let tree = json!({
        "description": "Contains itself, directly and through a map.",
        "type": "object",
        "properties": {
            "left": {"$ref": format!("#/$defs/{HERE}.Tree")},
            "byName": {"type": "object", "additionalProperties": {"$ref": format!("#/$defs/{HERE}.Branch")}},
        },
    });
    let branch = json!({
        "type": "object",
        "properties": {"trees": {"type": "array", "items": {"$ref": format!("#/$defs/{HERE}.Tree")}}},
    });
    let mut expected = tree.clone();
    expected["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    expected["title"] = format!("{HERE}.Tree").into();
    expected["$defs"] = json!({format!("{HERE}.Tree"): tree, format!("{HERE}.Branch"): branch});
    check::<Tree>(&expected);
}

#[test]
fn a_kind_says_its_version_and_its_kind() {
    let order = schema::<Order>(SchemaSettings::draft2020_12());
    check_references(&order);
    let properties = &order.as_value()["properties"];
    assert_eq!(order.get("title"), Some(&json!("shop.example.com.v1.Order")));
    assert_eq!(
        properties["apiVersion"],
        json!({"type": "string", "const": "shop.example.com/v1"})
    );
    assert_eq!(properties["kind"], json!({"type": "string", "const": "Order"}));
    assert_eq!(
        properties["spec"],
        json!({"$ref": format!("#/$defs/{HERE}.Part"), "description": "The ordered part."})
    );
}

#[test]
fn references_lead_somewhere_whatever_the_settings() {
    for settings in [
        SchemaSettings::draft07(),
        SchemaSettings::openapi3(),
        SchemaSettings::draft2020_12(),
    ] {
        check_references(&schema::<Tree>(settings.clone()));
        check_references(&schema::<Tree>(
            settings.with(|settings| settings.inline_subschemas = true),
        ));
    }
    let in_place = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    assert_eq!(schema::<Sink>(in_place).get("$defs"), None);
}

/// Types that schemars describes by itself find the definitions that the tables made, and the other way round.
#[test]
fn definitions_are_shared_with_other_types() {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let reference = generator.subschema_for::<Vec<Part>>();
    generator.subschema_for::<Sink>();
    assert_eq!(reference.as_value()["items"]["$ref"], format!("#/$defs/{HERE}.Part"));
    let mut names: Vec<_> = generator.definitions().keys().cloned().collect();
    names.sort();
    assert_eq!(names, [format!("{HERE}.Part"), format!("{HERE}.Sink")]);
    generator.subschema_for::<Branch>();
    generator.subschema_for::<Tree>();
    assert_eq!(generator.definitions().len(), 4);
}
