//! Defaults in the metadata of embedded objects: they have the fields that metadata has, whatever the schema says.

use serde_json::{Map, Value};

use super::embedded;

/// The place of a schema below that of the metadata.
#[derive(Clone, Copy)]
enum SchemaPlace<'p> {
    Metadata,
    Field(&'p SchemaPlace<'p>, &'p str),
    Element(&'p SchemaPlace<'p>),
}

/// The name that stands for any field of a map.
const ANY_FIELD: &str = "*";

/// Removes unknown and malformed fields from all defaults in `schema`, which describes the metadata of an embedded object. A
/// default of such a field is removed itself.
pub(super) fn prune(schema: &mut Value) {
    prune_at(schema, SchemaPlace::Metadata);
}

fn prune_at(schema: &mut Value, place: SchemaPlace<'_>) {
    let Value::Object(schema) = schema else { return };
    if let Some(default) = schema.get_mut("default").filter(|default| !default.is_null()) {
        let metadata = embedded::readable(&place.around(default.take()));
        match place.find(metadata) {
            Some(readable) => *default = readable,
            None => drop(schema.remove("default")),
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            prune_at(property, SchemaPlace::Field(&place, name));
        }
    }
    if let Some(additional) = schema.get_mut("additionalProperties") {
        prune_at(additional, SchemaPlace::Field(&place, ANY_FIELD));
    }
    if let Some(items) = schema.get_mut("items") {
        prune_at(items, SchemaPlace::Element(&place));
    }
}

impl SchemaPlace<'_> {
    /// Metadata with `value` at this place, and nothing else.
    fn around(self, value: Value) -> Value {
        match self {
            Self::Metadata => value,
            Self::Field(parent, name) => parent.around(Value::Object(Map::from_iter([(name.to_owned(), value)]))),
            Self::Element(parent) => parent.around(Value::Array(vec![value])),
        }
    }

    /// The value at this place of `metadata`, `None` if it is absent.
    fn find(self, metadata: Value) -> Option<Value> {
        match self {
            Self::Metadata => Some(metadata),
            Self::Field(parent, name) => match parent.find(metadata)? {
                Value::Object(mut fields) => fields.remove(name),
                _ => None,
            },
            Self::Element(parent) => match parent.find(metadata)? {
                Value::Array(elements) => elements.into_iter().next(),
                _ => None,
            },
        }
    }
}
