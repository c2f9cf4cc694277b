//! Converts structs and fields to schemas.

use planesmith_codegen_core::structure::{ListType, Listing, Omit, RuleModel};
use planesmith_machinery::facts::{ScalarFacts, TypeFacts};
use serde_json::{Map, Value, json};

use super::names;
use crate::generate::model::{Definition, Field, Model, Type};

/// The version of OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Version 2: no defaults, and a reference can have a sibling description.
    V2,
    /// Version 3.
    V3,
}

impl Dialect {
    /// Returns a reference to a definition.
    pub(super) fn reference(self, name: &str) -> Value {
        let place = match self {
            Self::V2 => "#/definitions",
            Self::V3 => "#/components/schemas",
        };
        json!({"$ref": format!("{place}/{name}")})
    }
}

/// Converts types of a model to schemas of one dialect.
pub(super) struct Schemas<'a> {
    pub(super) model: &'a Model,
    pub(super) dialect: Dialect,
}

impl Schemas<'_> {
    /// Returns the schema of a struct; with `kind`, it has the fields `kind` and `apiVersion`.
    pub(super) fn structure(&self, definition: &Definition, kind: bool) -> Value {
        let mut properties = Map::new();
        if kind || definition.type_meta.is_some() {
            insert_type_meta(&mut properties);
        }
        let mut required = Vec::new();
        for field in self.model.json_fields(definition) {
            if is_required(field) {
                required.push(field.facts.name.as_str());
            }
            properties.insert(field.facts.name.clone(), self.field(field));
        }
        let mut schema = Map::new();
        describe(&mut schema, &definition.doc);
        schema.insert("type".to_owned(), "object".into());
        if !properties.is_empty() {
            schema.insert("properties".to_owned(), properties.into());
        }
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        if definition.atomic {
            schema.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
        }
        if definition.union {
            schema.insert("x-kubernetes-unions".to_owned(), union(definition));
        }
        schema.into()
    }

    /// Returns the schema of the list of a kind.
    pub(super) fn list(&self, item: &str, kind: &str, plural: &str) -> Value {
        let mut properties = Map::new();
        insert_type_meta(&mut properties);
        let items = json!({
            "description": format!("List of {plural}."),
            "type": "array",
            "items": self.dialect.reference(item),
        });
        properties.insert("items".to_owned(), items);
        let meta = self.dialect.reference(&format!("{}.ListMeta", names::META));
        let mut metadata = self.referring(meta);
        describe(&mut metadata, "Standard metadata of lists.");
        if self.dialect == Dialect::V3 {
            metadata.insert("default".to_owned(), json!({}));
        }
        properties.insert("metadata".to_owned(), metadata.into());
        json!({
            "description": format!("A list of objects of kind {kind}."),
            "type": "object",
            "properties": properties,
            "required": ["items"],
        })
    }

    fn field(&self, field: &Field) -> Value {
        let facts = &field.facts;
        let mut schema = match self.ty(&field.ty) {
            Value::Object(reference) if reference.contains_key("$ref") => self.referring(reference.into()),
            Value::Object(schema) => schema,
            _ => Map::new(),
        };
        describe(&mut schema, &facts.doc);
        if self.dialect == Dialect::V3
            && let Some(default) = default_of(field)
        {
            schema.insert("default".to_owned(), default);
        }
        for rule in &facts.rules {
            constrain(&mut schema, rule, field.ty.present());
        }
        let mut extend = |name: &str, value: Value| schema.insert(format!("x-kubernetes-{name}"), value);
        match &facts.list {
            ListType::Unspecified => {}
            ListType::Atomic => drop(extend("list-type", "atomic".into())),
            ListType::Set => drop(extend("list-type", "set".into())),
            ListType::Map(keys) => {
                extend("list-type", "map".into());
                extend("list-map-keys", keys.as_slice().into());
            }
        }
        for (set, word) in [(facts.atomic, "atomic"), (facts.granular, "granular")] {
            if set {
                extend("map-type", word.into());
            }
        }
        if let Some(patch) = &facts.patch {
            let words = [
                (patch.merge, "merge"),
                (patch.retain_keys, "retainKeys"),
                (patch.replace, "replace"),
            ];
            let words: Vec<&str> = words
                .into_iter()
                .filter_map(|(set, word)| set.then_some(word))
                .collect();
            extend("patch-strategy", words.join(",").into());
            if !patch.merge_key.is_empty() {
                extend("patch-merge-key", patch.merge_key.as_str().into());
            }
        }
        schema.into()
    }

    /// Returns a property that combines a reference with other keywords.
    fn referring(&self, reference: Value) -> Map<String, Value> {
        let referring = match self.dialect {
            Dialect::V2 => reference,
            Dialect::V3 => json!({"allOf": [reference]}),
        };
        match referring {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    fn ty(&self, ty: &Type) -> Value {
        match ty {
            Type::Bool => json!({"type": "boolean"}),
            Type::Int32 => json!({"type": "integer", "format": "int32"}),
            Type::Int64 => json!({"type": "integer", "format": "int64"}),
            Type::Double => json!({"type": "number", "format": "double"}),
            Type::String => json!({"type": "string"}),
            Type::Leaf(leaf) => match &leaf.facts {
                TypeFacts::Scalar(facts) if !facts.definition.is_empty() => self.dialect.reference(facts.definition),
                TypeFacts::Scalar(facts) => scalar(facts, self.dialect),
                _ => json!({"type": "string", "format": "byte"}),
            },
            Type::Struct(path) => {
                let name = &self.model.structure(path).name;
                self.dialect.reference(&names::definition(self.model, path, name))
            }
            Type::List(element) => json!({"type": "array", "items": self.ty(element)}),
            Type::Map(value) => json!({"type": "object", "additionalProperties": self.ty(value)}),
            Type::Optional(inner) => self.ty(inner),
        }
    }
}

/// Returns the union extension: the discriminator and its value for each field.
fn union(definition: &Definition) -> Value {
    let mut union = Map::new();
    let mut members = Map::new();
    for field in &definition.fields {
        let name = &field.facts.name;
        if field.facts.discriminator {
            union.insert("discriminator".to_owned(), name.as_str().into());
        } else {
            members.insert(name.clone(), names::capitalized(name).into());
        }
    }
    union.insert("fields-to-discriminateBy".to_owned(), members.into());
    json!([union])
}

/// Returns the schema of a leaf.
pub(super) fn scalar(facts: &ScalarFacts, dialect: Dialect) -> Value {
    let mut schema = Map::new();
    match (facts.go_name, dialect) {
        ("resource.Quantity", Dialect::V3) => {
            schema.insert("oneOf".to_owned(), json!([{"type": "string"}, {"type": "number"}]));
        }
        ("intstr.IntOrString", Dialect::V3) => {
            schema.insert("oneOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
            schema.insert("format".to_owned(), facts.format.into());
        }
        _ => {
            for (key, value) in [("type", facts.openapi_type), ("format", facts.format)] {
                if !value.is_empty() {
                    schema.insert(key.to_owned(), value.into());
                }
            }
        }
    }
    schema.into()
}

/// True if OpenAPI lists a field as required: by declaration, or because it is always written and has no default.
pub(in crate::generate) fn is_required(field: &Field) -> bool {
    let facts = &field.facts;
    match facts.listing {
        Listing::Required => true,
        Listing::Optional => false,
        Listing::AsWritten => facts.required || (facts.omit == Omit::Never && facts.default.is_none()),
    }
}

/// Returns the default of an absent field.
fn default_of(field: &Field) -> Option<Value> {
    let facts = &field.facts;
    if let Some(default) = &facts.default {
        return serde_json::from_str(default).ok();
    }
    let kept = facts.omit == Omit::Never;
    match &field.ty {
        Type::Struct(_) => Some(json!({})),
        Type::String if kept => Some("".into()),
        Type::Bool if kept => Some(false.into()),
        Type::Int32 | Type::Int64 | Type::Double if kept => Some(0.into()),
        _ => None,
    }
}

/// Adds a declared constraint under the keyword for the type.
pub(in crate::generate) fn constrain(schema: &mut Map<String, Value>, rule: &RuleModel, ty: &Type) {
    let unit = match ty {
        Type::List(_) => "Items",
        Type::Map(_) => "Properties",
        _ => "Length",
    };
    let (key, value) = match rule {
        RuleModel::Enum(texts) | RuleModel::KnownValues(texts) => {
            let mut texts = texts.clone();
            texts.sort_unstable();
            let of_texts = match ty {
                Type::List(_) => schema.get_mut("items"),
                Type::Map(_) => schema.get_mut("additionalProperties"),
                _ => None,
            };
            match of_texts {
                Some(element) => element["enum"] = texts.into(),
                None => drop(schema.insert("enum".to_owned(), texts.into())),
            }
            return;
        }
        RuleModel::Minimum(number) => ("minimum".to_owned(), (*number).into()),
        RuleModel::Maximum(number) => ("maximum".to_owned(), (*number).into()),
        RuleModel::MinLength(length) => (format!("min{unit}"), (*length).into()),
        RuleModel::MaxLength(length) => (format!("max{unit}"), (*length).into()),
        RuleModel::Pattern(pattern) => ("pattern".to_owned(), pattern.as_str().into()),
        RuleModel::Each(rules) => {
            let (word, ty) = match ty {
                Type::List(element) => ("items", element.present()),
                Type::Map(value) => ("additionalProperties", value.present()),
                _ => return,
            };
            if let Some(element) = schema.get_mut(word).and_then(Value::as_object_mut) {
                rules.iter().for_each(|rule| constrain(element, rule, ty));
            }
            return;
        }
        // The list type expresses this.
        RuleModel::Unique(_) => return,
        RuleModel::Immutable => (
            "x-kubernetes-validations".to_owned(),
            json!([{"rule": "self == oldSelf", "message": "field is immutable"}]),
        ),
    };
    schema.insert(key, value);
}

fn insert_type_meta(properties: &mut Map<String, Value>) {
    for (field, doc) in TYPE_META {
        properties.insert((*field).to_owned(), json!({"description": doc, "type": "string"}));
    }
}

/// The fields `kind` and `apiVersion`.
pub(in crate::generate) const TYPE_META: &[(&str, &str)] = &[
    (
        "apiVersion",
        "APIVersion defines the format that the object is written in by its group and version, such as apps/v1.",
    ),
    ("kind", "Kind names the type of the object in camel case. Immutable."),
];

pub(super) fn describe(schema: &mut Map<String, Value>, doc: &str) {
    if !doc.is_empty() {
        schema.insert("description".to_owned(), doc.into());
    }
}
