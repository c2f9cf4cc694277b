//! Structural schemas: all types are expanded in place.

use planesmith_codegen_core::structure::ListType;
use planesmith_machinery::facts::TypeFacts;
use serde_json::{Map, Value, json};

use crate::generate::model::{Field, Kind, Model, Type};
use crate::generate::openapi::schema::{TYPE_META, constrain, is_required};
use crate::generate::source::RustPath;

/// The pattern of a quantity, by which tools recognize quantities in definitions.
pub(crate) const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Returns the schema of a kind.
pub(super) fn of_kind(model: &Model, kind: &Kind) -> Value {
    let mut schema = Schemas {
        model,
        inside: Vec::new(),
    }
    .structure(&kind.path);
    let properties = &mut schema["properties"];
    for (field, doc) in TYPE_META {
        properties[*field] = json!({"description": doc, "type": "string"});
    }
    // The server defines the schema of metadata.
    properties["metadata"] = json!({"type": "object"});
    schema
}

struct Schemas<'a> {
    model: &'a Model,
    /// The structs around the current position; recursion is cut off.
    inside: Vec<RustPath>,
}

impl Schemas<'_> {
    fn structure(&mut self, path: &RustPath) -> Value {
        let definition = self.model.structure(path);
        let mut schema = Map::from_iter([("type".to_owned(), "object".into())]);
        if self.inside.contains(path) {
            schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
            return schema.into();
        }
        self.inside.push(path.clone());
        if !definition.doc.is_empty() {
            schema.insert("description".to_owned(), definition.doc.as_str().into());
        }
        let fields = self.model.json_fields(definition);
        let required: Vec<&str> = fields
            .iter()
            .filter(|field| is_required(field))
            .map(|field| field.facts.name.as_str())
            .collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        let properties: Map<String, Value> = fields
            .iter()
            .map(|field| (field.facts.name.clone(), self.field(field)))
            .collect();
        if !properties.is_empty() {
            schema.insert("properties".to_owned(), properties.into());
        }
        if definition.atomic {
            schema.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
        }
        self.inside.pop();
        schema.into()
    }

    fn field(&mut self, field: &Field) -> Value {
        let facts = &field.facts;
        let mut schema = self.ty(&field.ty).as_object().cloned().unwrap_or_default();
        if !facts.doc.is_empty() {
            schema.insert("description".to_owned(), facts.doc.as_str().into());
        }
        if let Some(default) = facts
            .default
            .as_deref()
            .and_then(|default| serde_json::from_str(default).ok())
        {
            schema.insert("default".to_owned(), default);
        }
        for rule in &facts.rules {
            constrain(&mut schema, rule, field.ty.present());
        }
        let (list, keys) = match &facts.list {
            ListType::Unspecified => ("", None),
            ListType::Atomic => ("atomic", None),
            ListType::Set => ("set", None),
            ListType::Map(keys) => ("map", Some(keys)),
        };
        if !list.is_empty() {
            schema.insert("x-kubernetes-list-type".to_owned(), list.into());
        }
        if let Some(keys) = keys {
            schema.insert("x-kubernetes-list-map-keys".to_owned(), keys.as_slice().into());
        }
        if facts.atomic {
            schema.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
        }
        schema.into()
    }

    fn ty(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Bool => json!({"type": "boolean"}),
            Type::Int32 => json!({"type": "integer", "format": "int32"}),
            Type::Int64 => json!({"type": "integer", "format": "int64"}),
            Type::Double => json!({"type": "number", "format": "double"}),
            Type::String => json!({"type": "string"}),
            Type::Leaf(leaf) => leaf_schema(&leaf.facts),
            Type::Struct(path) => self.structure(path),
            Type::List(element) => json!({"type": "array", "items": self.ty(element)}),
            Type::Map(value) => json!({"type": "object", "additionalProperties": self.ty(value)}),
            Type::Optional(inner) => self.ty(inner),
        }
    }
}

fn leaf_schema(facts: &TypeFacts) -> Value {
    let TypeFacts::Scalar(facts) = facts else {
        return json!({"type": "string", "format": "byte"});
    };
    match facts.go_name {
        "resource.Quantity" => json!({
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": QUANTITY,
            "x-kubernetes-int-or-string": true,
        }),
        "intstr.IntOrString" => json!({
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "x-kubernetes-int-or-string": true,
        }),
        "runtime.RawExtension" | "v1.FieldsV1" => json!({
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
        }),
        _ if facts.openapi_type.is_empty() => json!({"x-kubernetes-preserve-unknown-fields": true}),
        _ if facts.format.is_empty() => json!({"type": facts.openapi_type}),
        _ => json!({"type": facts.openapi_type, "format": facts.format}),
    }
}
