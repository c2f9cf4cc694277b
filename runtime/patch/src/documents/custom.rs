//! The schema of a value of a custom kind, as kube-apiserver reads it from the OpenAPI v3 document of the kind.

use planesmith_dynamic::structural::{Additional, Format, ListKind, SchemaType, Structural};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::value::Shape;
use serde_json::Value;

use super::schema::{Entry, Keys, Parts, Schema, ValueKind};

/// The schema of a value of a custom kind.
#[derive(Clone, Copy, Debug)]
pub struct CustomSchema<'s> {
    structural: &'s Structural,
    /// True if the value or one around it preserves unknown fields.
    preserves_unknown: bool,
    /// True for an object of the API, which has `apiVersion`, `kind` and `metadata` whatever the schema declares.
    is_resource: bool,
}

impl<'s> CustomSchema<'s> {
    /// The schema of objects of a kind.
    pub(super) fn of_kind(schema: &'s Structural) -> Self {
        Self {
            structural: schema,
            preserves_unknown: schema.preserve_unknown,
            is_resource: true,
        }
    }

    /// The schema of a value in this one, which preserves unknown fields if this one does.
    fn inner(self, schema: &'s Structural) -> Schema<'s> {
        Schema::Custom(Self {
            structural: schema,
            preserves_unknown: self.preserves_unknown || schema.preserve_unknown,
            is_resource: schema.embedded,
        })
    }

    pub(super) fn parts(self, value: &Value) -> Parts<'s> {
        let schema = self.structural;
        match (schema.schema_type, &schema.list) {
            (SchemaType::Object, _) if schema.atomic => Parts::None,
            (SchemaType::Object, _) => Parts::Entries,
            (SchemaType::Array, ListKind::Set) => Parts::Values,
            (SchemaType::Array, ListKind::Map(keys)) => Parts::Keyed(Keys::Custom(keys)),
            (SchemaType::Any | SchemaType::IntOrString, _) if value.is_object() => Parts::Entries,
            _ => Parts::None,
        }
    }

    pub(super) fn is_whole(self) -> bool {
        match self.structural.schema_type {
            SchemaType::Object => self.structural.atomic,
            SchemaType::Array => self.structural.list == ListKind::Atomic,
            _ => false,
        }
    }

    pub(super) fn value_kind(self) -> ValueKind {
        match self.structural.schema_type {
            SchemaType::Object => ValueKind::Object,
            SchemaType::Array => ValueKind::List,
            SchemaType::String => match self.format() {
                "" | "byte" => ValueKind::Text,
                _ => ValueKind::Scalar,
            },
            SchemaType::Integer | SchemaType::Number => ValueKind::Number,
            SchemaType::Boolean => ValueKind::Truth,
            // Neither has a type in OpenAPI.
            SchemaType::IntOrString | SchemaType::Any => ValueKind::Any,
        }
    }

    pub(super) fn entry(self, name: &str) -> Entry<'s> {
        let schema = self.structural;
        match name {
            "apiVersion" | "kind" if self.is_resource => return Entry::Field(Schema::Text),
            "metadata" if self.is_resource => return Entry::Field(Schema::Typed(&ObjectMeta::TYPE, None)),
            _ => {}
        }
        // An object without any declared field has fields of all names.
        let is_free = schema.properties.is_empty() && !self.is_resource;
        match (schema.properties.get(name), &schema.additional) {
            (Some(property), _) => Entry::Field(self.inner(property)),
            (None, Additional::Typed(additional)) => Entry::Element(self.inner(additional)),
            (None, Additional::Any) => Entry::Element(Schema::Unknown),
            (None, Additional::None) if self.preserves_unknown || is_free => Entry::Element(Schema::Unknown),
            (None, Additional::None | Additional::Refused) => Entry::Undeclared,
        }
    }

    pub(super) fn element(self) -> Schema<'s> {
        let items = self.structural.items.as_deref();
        items.map_or(Schema::Unknown, |items| self.inner(items))
    }

    pub(super) fn default(self) -> Option<&'s Value> {
        self.structural.default.as_deref()
    }

    fn format(self) -> &'s str {
        let limits = self.structural.limits.as_deref();
        let format = limits.and_then(|limits| limits.format.as_ref());
        format.map_or("", Format::name)
    }
}
