//! The schema of any struct, from its table.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::facts::{FieldFacts, ListType, Rule, ScalarFacts, StructFacts, TypeFacts};

/// Returns the definition name of a struct, such as `shop.example.com.v1.Order` for a kind and
/// `shop.v1.order.OrderSpec` for another struct.
///
/// schemars identifies types by this name. It needs no escapes in a reference.
#[must_use]
pub fn definition_name(facts: &StructFacts) -> String {
    let name = match facts.type_meta {
        Some(meta) => format!("{}.{}", meta.api_version.replace('/', "."), meta.kind),
        None => format!("{}.{}", facts.module.replace("::", "."), facts.name),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Returns the schema of a struct; nested structs become definitions of the generator.
pub fn of_struct(facts: &'static StructFacts, generator: &mut SchemaGenerator) -> Schema {
    let mut schemas = Schemas {
        generator,
        inside: Vec::new(),
    };
    schemas.structure(facts).into()
}

type Object = Map<String, Value>;

struct Schemas<'a> {
    generator: &'a mut SchemaGenerator,
    /// The enclosing structs, outermost first; a recursive occurrence cannot be inlined.
    inside: Vec<&'static StructFacts>,
}

impl Schemas<'_> {
    fn structure(&mut self, facts: &'static StructFacts) -> Object {
        self.inside.push(facts);
        let mut properties = Object::new();
        if let Some(meta) = facts.type_meta {
            properties.insert("apiVersion".to_owned(), constant(meta.api_version));
            properties.insert("kind".to_owned(), constant(meta.kind));
        }
        let mut required = Vec::new();
        self.fields(facts, &mut properties, &mut required);
        self.inside.pop();

        let mut schema = Object::new();
        describe(&mut schema, facts.doc);
        schema.insert("type".to_owned(), "object".into());
        if !properties.is_empty() {
            schema.insert("properties".to_owned(), properties.into());
        }
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        if facts.atomic {
            schema.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
        }
        schema
    }

    fn fields(&mut self, facts: &'static StructFacts, properties: &mut Object, required: &mut Vec<Value>) {
        for field in facts.fields {
            match field.ty.present() {
                TypeFacts::Struct(inner) if field.inline => self.fields(inner(), properties, required),
                _ => {
                    if field.is_listed_as_required() {
                        required.push(field.name.into());
                    }
                    properties.insert(field.name.to_owned(), self.field(field).into());
                }
            }
        }
    }

    fn field(&mut self, field: &'static FieldFacts) -> Object {
        let mut schema = self.ty(&field.ty);
        describe(&mut schema, field.doc);
        if let Some(default) = field.default.and_then(|default| serde_json::from_str(default).ok()) {
            schema.insert("default".to_owned(), default);
        }
        for rule in field.rules {
            constrain(&mut schema, rule, field.ty.present());
        }
        let list_type = match field.list {
            ListType::Unspecified => None,
            ListType::Atomic => Some("atomic"),
            ListType::Set => Some("set"),
            ListType::Map(keys) => {
                schema.insert("x-kubernetes-list-map-keys".to_owned(), keys.into());
                Some("map")
            }
        };
        if let Some(list_type) = list_type {
            schema.insert("x-kubernetes-list-type".to_owned(), list_type.into());
        }
        for (set, word) in [(field.atomic, "atomic"), (field.granular, "granular")] {
            if set {
                schema.insert("x-kubernetes-map-type".to_owned(), word.into());
            }
        }
        schema
    }

    fn ty(&mut self, ty: &'static TypeFacts) -> Object {
        let schema = match ty {
            TypeFacts::Bool => json!({"type": "boolean"}),
            TypeFacts::Int32 => json!({"type": "integer", "format": "int32"}),
            TypeFacts::Int64 => json!({"type": "integer", "format": "int64"}),
            TypeFacts::Double => json!({"type": "number", "format": "double"}),
            TypeFacts::String => json!({"type": "string"}),
            TypeFacts::Bytes => json!({"type": "string", "format": "byte"}),
            TypeFacts::Scalar(facts) => scalar(facts),
            TypeFacts::Struct(facts) => return self.nested(facts()),
            TypeFacts::List(element) => json!({"type": "array", "items": self.ty(element)}),
            TypeFacts::Map(value) => json!({"type": "object", "additionalProperties": self.ty(value)}),
            TypeFacts::Optional(inner) => return self.ty(inner),
        };
        object(schema)
    }

    /// Returns the schema of a nested struct: a reference, unless the generator inlines subschemas and the struct is
    /// not recursive.
    fn nested(&mut self, facts: &'static StructFacts) -> Object {
        let is_open = self.inside.iter().any(|outer| std::ptr::eq(*outer, facts));
        if self.generator.settings().inline_subschemas && !is_open {
            return self.structure(facts);
        }
        let name = definition_name(facts);
        if !self.generator.definitions().contains_key(&name) {
            // A placeholder while the struct is described, because it may contain itself.
            self.generator.definitions_mut().insert(name.clone(), false.into());
            let schema = self.structure(facts);
            self.generator.definitions_mut().insert(name.clone(), schema.into());
        }
        let path = self.generator.settings().definitions_path.trim_start_matches('#');
        let reference = format!("#{}/{name}", path.trim_end_matches('/'));
        Object::from_iter([("$ref".to_owned(), reference.into())])
    }
}

/// Returns the schema of a leaf.
fn scalar(facts: &ScalarFacts) -> Value {
    match (facts.go_name, facts.openapi_type) {
        // Both are also decoded from a number, independent of the form in which they are written.
        ("resource.Quantity" | "intstr.IntOrString", _) => json!({
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "x-kubernetes-int-or-string": true,
        }),
        (_, "") => json!({"x-kubernetes-preserve-unknown-fields": true}),
        (_, "object") => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        (_, ty) if facts.format.is_empty() => json!({"type": ty}),
        (_, ty) => json!({"type": ty, "format": facts.format}),
    }
}

/// Adds a declared constraint under the keyword for the type.
fn constrain(schema: &mut Object, rule: &Rule, ty: &TypeFacts) {
    let unit = match ty {
        TypeFacts::List(_) => "Items",
        TypeFacts::Map(_) => "Properties",
        _ => "Length",
    };
    let (word, value) = match *rule {
        Rule::Enum(texts) | Rule::KnownValues(texts) => {
            let of_texts = match ty {
                TypeFacts::List(_) => schema.get_mut("items"),
                TypeFacts::Map(_) => schema.get_mut("additionalProperties"),
                _ => None,
            };
            match of_texts {
                Some(element) => element["enum"] = texts.into(),
                None => drop(schema.insert("enum".to_owned(), texts.into())),
            }
            return;
        }
        Rule::Minimum(number) => ("minimum".to_owned(), number.into()),
        Rule::Maximum(number) => ("maximum".to_owned(), number.into()),
        Rule::MinLength(length) => (format!("min{unit}"), length.into()),
        Rule::MaxLength(length) => (format!("max{unit}"), length.into()),
        Rule::Pattern(pattern) => ("pattern".to_owned(), pattern.into()),
        Rule::Each(rules) => {
            let (word, ty) = match ty {
                TypeFacts::List(element) => ("items", element.present()),
                TypeFacts::Map(value) => ("additionalProperties", value.present()),
                _ => return,
            };
            if let Some(element) = schema.get_mut(word).and_then(Value::as_object_mut) {
                rules.iter().for_each(|rule| constrain(element, rule, ty));
            }
            return;
        }
        // The list type already expresses uniqueness.
        Rule::Unique(_) => return,
        Rule::Immutable => (
            "x-kubernetes-validations".to_owned(),
            json!([{"rule": "self == oldSelf", "message": "field is immutable"}]),
        ),
    };
    schema.insert(word, value);
}

fn constant(text: &str) -> Value {
    json!({"type": "string", "const": text})
}

fn describe(schema: &mut Object, doc: &str) {
    if !doc.is_empty() {
        schema.insert("description".to_owned(), doc.into());
    }
}

fn object(schema: Value) -> Object {
    match schema {
        Value::Object(schema) => schema,
        other => unreachable!("{other} is no schema of a type"),
    }
}
