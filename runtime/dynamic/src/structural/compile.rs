//! The compilation of schemas from their JSON form.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Additional, Format, Limits, ListKind, Malformed, Pattern, Properties, SchemaType, SharedSchemas, Structural,
    metadata_defaults,
};

impl Structural {
    /// The schema in its JSON form, `openAPIV3Schema` of a definition. Unknown keywords are ignored: a
    /// schema is validated before, when its definition is written.
    #[must_use]
    pub fn compile(schema: &Value) -> Self {
        Compiler::new(&mut SharedSchemas::default()).structural(schema)
    }

    /// As [`Structural::compile`], made of the parts that `shared` knows already.
    #[must_use]
    pub fn compile_shared(schema: &Value, shared: &mut SharedSchemas) -> Arc<Self> {
        Compiler::new(shared).compile(schema)
    }

    /// As [`Structural::compile`], for the check of defaults. kube-apiserver checks these against the schema as it is written:
    /// any value is an integer or a string, and formats without a meaning count as formats.
    #[must_use]
    pub fn compile_as_written(schema: &Value) -> Self {
        let mut shared = SharedSchemas::default();
        let mut compiler = Compiler::new(&mut shared);
        compiler.is_as_written = true;
        compiler.structural(schema)
    }

    fn any(&self, here: bool, below: fn(&Structural) -> bool) -> bool {
        here || self.children().any(below)
    }
}

/// Compiles with what was compiled before.
struct Compiler<'s> {
    shared: &'s mut SharedSchemas,
    /// True below the metadata of an embedded object, whose schema does not decide about its fields.
    in_metadata: bool,
    /// True if keywords without a meaning for objects count.
    is_as_written: bool,
}

impl<'s> Compiler<'s> {
    fn new(shared: &'s mut SharedSchemas) -> Self {
        Self {
            shared,
            in_metadata: false,
            is_as_written: false,
        }
    }

    fn compile(&mut self, schema: &Value) -> Arc<Structural> {
        let compiled = self.structural(schema);
        self.shared.share(compiled)
    }

    /// Compiles the schema of the metadata of an embedded object.
    fn metadata(&mut self, schema: &Value) -> Arc<Structural> {
        let mut schema = schema.clone();
        metadata_defaults::prune(&mut schema);
        let is_nested = std::mem::replace(&mut self.in_metadata, true);
        let compiled = self.compile(&schema);
        self.in_metadata = is_nested;
        compiled
    }

    fn structural(&mut self, schema: &Value) -> Structural {
        let Value::Object(schema) = schema else {
            return Structural::default();
        };
        let flag = |name: &str| schema.get(name).and_then(Value::as_bool).unwrap_or_default();
        let rules = schema
            .get("x-kubernetes-validations")
            .filter(|rules| rules.as_array().is_some_and(|rules| !rules.is_empty()));
        let schema_type = match schema_type(schema) {
            SchemaType::IntOrString if self.is_as_written => SchemaType::Any,
            schema_type => schema_type,
        };
        let limits = self.limits(schema, schema_type);
        let mut compiled = Structural {
            schema_type,
            nullable: flag("nullable"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded: flag("x-kubernetes-embedded-resource"),
            properties: self.properties(schema, flag("x-kubernetes-embedded-resource") && !self.in_metadata),
            additional: self.additional(schema.get("additionalProperties")),
            items: schema.get("items").map(|items| self.compile(items)),
            list: list(schema),
            atomic: str_of(schema, "x-kubernetes-map-type") == "atomic",
            default: None,
            limits: (limits != Limits::default()).then(|| Box::new(limits)),
            rules: rules.cloned().map(Box::new),
            ..Structural::default()
        };
        let all_of = compiled.limits.iter().flat_map(|limits| &limits.all_of);
        let is_ruled = compiled.rules.is_some() || all_of.into_iter().any(|schema| schema.has_rules);
        compiled.has_rules = compiled.any(is_ruled, |schema| schema.has_rules);
        compiled.has_embedded = compiled.any(compiled.embedded, |schema| schema.has_embedded);
        let is_keyed = compiled.list != ListKind::Atomic;
        compiled.has_keyed_lists = compiled.any(is_keyed, |schema| schema.has_keyed_lists);
        // Unknown fields are removed from defaults.
        if let Some(mut default) = schema.get("default").filter(|default| !default.is_null()).cloned() {
            if !self.in_metadata {
                // Nothing is refused: what is malformed is dropped.
                let _ = compiled.complete_embedded(&mut default, Malformed::Dropped);
                compiled.prune_part(&mut default);
            }
            compiled.default = Some(Box::new(default));
        }
        compiled
    }

    fn properties(&mut self, schema: &Map<String, Value>, is_embedded: bool) -> Properties {
        let properties = schema.get("properties").and_then(Value::as_object);
        let compiled = |(name, schema): (&String, &Value)| {
            let compiled = match is_embedded && name == "metadata" {
                true => self.metadata(schema),
                false => self.compile(schema),
            };
            (name.as_str().into(), compiled)
        };
        properties.into_iter().flatten().map(compiled).collect()
    }

    fn additional(&mut self, schema: Option<&Value>) -> Additional {
        match schema {
            Some(Value::Bool(true)) => Additional::Any,
            Some(Value::Bool(false)) => Additional::Refused,
            Some(schema @ Value::Object(_)) => Additional::Typed(self.compile(schema)),
            _ => Additional::None,
        }
    }

    fn all(&mut self, schemas: Option<&Value>) -> Box<[Arc<Structural>]> {
        let schemas = schemas.and_then(Value::as_array);
        schemas
            .into_iter()
            .flatten()
            .map(|schema| self.compile(schema))
            .collect()
    }

    fn limits(&mut self, schema: &Map<String, Value>, schema_type: SchemaType) -> Limits {
        let flag = |name: &str| schema.get(name).and_then(Value::as_bool).unwrap_or_default();
        let count = |name: &str| schema.get(name).and_then(Value::as_u64);
        let most = |name: &str| schema.get(name).and_then(Value::as_i64);
        let number = |name: &str| schema.get(name).and_then(Value::as_f64);
        Limits {
            format: match (str_of(schema, "format"), self.is_as_written) {
                (name, true) => Format::as_written(schema_type, name),
                (name, false) => Format::from_name(schema_type, name),
            },
            maximum: number("maximum"),
            exclusive_maximum: flag("exclusiveMaximum"),
            minimum: number("minimum"),
            exclusive_minimum: flag("exclusiveMinimum"),
            multiple_of: number("multipleOf"),
            max_length: most("maxLength"),
            min_length: count("minLength"),
            pattern: Some(str_of(schema, "pattern"))
                .filter(|pattern| !pattern.is_empty())
                .map(Pattern::new),
            max_items: most("maxItems"),
            min_items: count("minItems"),
            unique_items: flag("uniqueItems"),
            max_properties: most("maxProperties"),
            min_properties: count("minProperties"),
            allowed: schema
                .get("enum")
                .and_then(Value::as_array)
                .map_or_else(Box::default, |allowed| allowed.as_slice().into()),
            required: texts(schema, "required"),
            all_of: self.all(schema.get("allOf")),
            any_of: self.all(schema.get("anyOf")),
            one_of: self.all(schema.get("oneOf")),
            not: schema.get("not").map(|not| self.compile(not)),
        }
    }
}

fn schema_type(schema: &Map<String, Value>) -> SchemaType {
    if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        return SchemaType::IntOrString;
    }
    match str_of(schema, "type") {
        "object" => SchemaType::Object,
        "array" => SchemaType::Array,
        "string" => SchemaType::String,
        "integer" => SchemaType::Integer,
        "number" => SchemaType::Number,
        "boolean" => SchemaType::Boolean,
        _ => SchemaType::Any,
    }
}

fn list(schema: &Map<String, Value>) -> ListKind {
    match str_of(schema, "x-kubernetes-list-type") {
        "set" => ListKind::Set,
        "map" => ListKind::Map(texts(schema, "x-kubernetes-list-map-keys")),
        _ => ListKind::Atomic,
    }
}

fn str_of<'s>(schema: &'s Map<String, Value>, name: &str) -> &'s str {
    schema.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn texts(schema: &Map<String, Value>, name: &str) -> Box<[Box<str>]> {
    let texts = schema.get(name).and_then(Value::as_array);
    texts
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(Into::into)
        .collect()
}
