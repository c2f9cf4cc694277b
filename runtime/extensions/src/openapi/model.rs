//! The OpenAPI models of a kind and of its lists.

use planesmith_machinery::resource::ResourceFacts;
use serde_json::{Map, Value, json};

pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const META_DOC: &str = "Standard object's metadata.";

/// The OpenAPI version of a model.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dialect<'t> {
    /// Version 2, without schema composition such as `anyOf`.
    V2,
    /// Version 3, with the descriptions of the template document.
    V3 { template: &'t Value },
}

/// Returns the name of a model: the reversed group, the version, the kind.
pub(super) fn name(facts: &ResourceFacts, kind: &str) -> String {
    let group: Vec<&str> = facts.group.rsplit('.').collect();
    format!("{}.{}.{kind}", group.join("."), facts.version)
}

/// Returns the model of objects.
pub(super) fn of_kind(facts: &ResourceFacts, schema: &Value, dialect: Dialect<'_>) -> Value {
    let keeps_all = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    let mut model = match schema {
        // Clients would assume that the listed properties are the only ones.
        Value::Object(_) if keeps_all && matches!(dialect, Dialect::V2) => json!({"type": "object"}),
        Value::Object(schema) => {
            let mut model = schema.clone();
            adjust(&mut model, dialect);
            Value::Object(model)
        }
        _ => json!({"type": "object"}),
    };
    let has_properties = schema.is_object() && !(keeps_all && matches!(dialect, Dialect::V2));
    if has_properties {
        add_meta(&mut model, OBJECT_META, META_DOC, dialect);
    }
    model["x-kubernetes-group-version-kind"] = json!([kind_of(facts, &facts.kind)]);
    add_selectable(facts, &mut model);
    model
}

/// Returns the model of lists.
pub(super) fn of_list(facts: &ResourceFacts, dialect: Dialect<'_>) -> Value {
    let mut model = json!({
        "description": format!("{} is a list of {}", facts.list_kind, facts.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {
                "description": format!("List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md", facts.plural),
                "type": "array",
                "items": reference(&name(facts, &facts.kind), dialect),
            },
        },
        "x-kubernetes-group-version-kind": [kind_of(facts, &facts.list_kind)],
    });
    add_meta(&mut model, LIST_META, "Standard metadata of lists.", dialect);
    add_selectable(facts, &mut model);
    model
}

/// Returns the group, version and kind of a kind.
pub(super) fn kind_of(facts: &ResourceFacts, kind: &str) -> Value {
    json!({"group": facts.group, "kind": kind, "version": facts.version})
}

fn add_selectable(facts: &ResourceFacts, model: &mut Value) {
    if !facts.selectable.is_empty() {
        let fields: Vec<Value> = facts.selectable.iter().map(|path| json!({"fieldPath": path})).collect();
        model["x-kubernetes-selectable-fields"] = Value::Array(fields);
    }
}

/// Returns a reference to a model.
pub(super) fn reference(name: &str, dialect: Dialect<'_>) -> Value {
    match dialect {
        Dialect::V2 => json!({"$ref": format!("#/definitions/{name}")}),
        Dialect::V3 { .. } => json!({"$ref": format!("#/components/schemas/{name}")}),
    }
}

/// Adds `apiVersion`, `kind` and `metadata`.
fn add_meta(model: &mut Value, meta: &str, doc: &str, dialect: Dialect<'_>) {
    let texts = |name: &str| {
        let schema = match dialect {
            Dialect::V3 { template } => template
                .pointer("/components/schemas/io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition/properties")
                .and_then(|properties| properties.get(name))
                .cloned(),
            Dialect::V2 => None,
        };
        let doc = match name {
            "kind" => "Kind names the type of the object in camel case. Cannot change.",
            _ => "APIVersion defines the format that the object is written in by its group and version.",
        };
        schema.unwrap_or_else(|| json!({"description": doc, "type": "string"}))
    };
    let mut metadata = match dialect {
        Dialect::V2 => reference(meta, dialect),
        Dialect::V3 { .. } => json!({"allOf": [reference(meta, dialect)]}),
    };
    metadata["description"] = json!(doc);
    for (name, value) in [
        ("apiVersion", texts("apiVersion")),
        ("kind", texts("kind")),
        ("metadata", metadata),
    ] {
        model["properties"][name] = value;
    }
}

/// Adjusts a schema and its descendants to a dialect.
fn adjust(schema: &mut Map<String, Value>, dialect: Dialect<'_>) {
    unfold(schema);
    if matches!(dialect, Dialect::V2) {
        simplify(schema);
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|properties| properties.values_mut()) {
        adjust_value(property, dialect);
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(name) {
            adjust_value(inner, dialect);
        }
    }
    let flag = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    let is_open = flag("x-kubernetes-preserve-unknown-fields") && matches!(dialect, Dialect::V2);
    if flag("x-kubernetes-embedded-resource") && !is_open {
        let mut model = Value::Object(std::mem::take(schema));
        add_meta(&mut model, OBJECT_META, META_DOC, dialect);
        if let Value::Object(model) = model {
            *schema = model;
        }
        let required = schema.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(required) = required {
            for name in ["kind", "apiVersion"] {
                if !required.contains(&json!(name)) {
                    required.push(json!(name));
                }
            }
        }
    }
}

fn adjust_value(schema: &mut Value, dialect: Dialect<'_>) {
    if let Value::Object(schema) = schema {
        adjust(schema, dialect);
    }
}

/// Expands `x-kubernetes-int-or-string` to standard OpenAPI.
fn unfold(schema: &mut Map<String, Value>) {
    if schema.get("x-kubernetes-int-or-string") != Some(&Value::Bool(true)) {
        return;
    }
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let is_said = schema.get("anyOf") == Some(&either)
        || schema.get("allOf").and_then(|all| all.pointer("/0/anyOf")) == Some(&either);
    if is_said {
        return;
    }
    if !schema.contains_key("anyOf") {
        schema.insert("anyOf".to_owned(), either);
    } else if let Value::Array(all) = schema.entry("allOf").or_insert_with(|| json!([])) {
        all.insert(0, json!({"anyOf": either}));
    }
}

/// Removes keywords that version 2 clients do not support.
fn simplify(schema: &mut Map<String, Value>) {
    for name in ["allOf", "anyOf", "oneOf", "not", "default"] {
        schema.remove(name);
    }
    let is_nullable = schema.remove("nullable") == Some(Value::Bool(true));
    let is_open = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
    if is_nullable || is_open {
        schema.remove("items");
        schema.remove("properties");
    }
    let is_list = schema.get("type") == Some(&json!("array"));
    let is_object = schema.get("type") == Some(&json!("object"));
    if is_nullable || (is_list && !schema.contains_key("items")) || (is_open && is_object) {
        schema.remove("type");
    }
    let is_nullable =
        |schema: Option<&Value>| schema.and_then(|schema| schema.get("nullable")) == Some(&Value::Bool(true));
    let nullable: Vec<Value> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, property)| is_nullable(Some(property)))
        .map(|(name, _)| json!(name))
        .collect();
    let drops_all = is_nullable(schema.get("additionalProperties"));
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !drops_all && !nullable.contains(name));
        if required.is_empty() {
            schema.remove("required");
        }
    }
}
