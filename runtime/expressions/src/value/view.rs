//! Documents as values: the schema of each part determines its type.

use std::borrow::Cow;

use planesmith_dynamic::structural::{Additional, Format, ListKind, SchemaType, Structural};
use planesmith_machinery::go_base64;
use serde_json::Value as Json;

use super::{Evaluated, Fault, Key, List, Map, Text, Value};
use crate::declared::unescape;
use crate::library::time;

const ATOMIC: &ListKind = &ListKind::Atomic;

/// Returns the value of a part of a document described by `schema`.
pub(crate) fn from_json<'d>(json: &'d Json, schema: &'d Structural) -> Evaluated<'d> {
    match (json, schema.schema_type) {
        (Json::Null, _) if schema.nullable => Ok(Value::Null),
        (Json::Null, _) => Err(Fault::new("invalid data, got null for schema with nullable=false")),
        (Json::String(text), SchemaType::IntOrString) => Ok(Value::String(Text::Borrowed(text))),
        (Json::Number(number), SchemaType::Integer) => integer(number),
        (Json::Number(number), SchemaType::IntOrString) if number.is_i64() => integer(number),
        (Json::Number(number), SchemaType::Number) => Ok(Value::Double(number.as_f64().unwrap_or(f64::NAN))),
        (Json::Object(entries), SchemaType::Object) => Ok(Value::Map(Map::View {
            entries,
            schema: Some(schema),
            is_root: schema.embedded,
        })),
        (Json::Array(elements), SchemaType::Array) => Ok(Value::List(List::View {
            elements,
            items: schema.items.as_deref(),
            kind: &schema.list,
        })),
        (Json::String(text), SchemaType::String) => string(text, schema),
        (Json::Bool(value), SchemaType::Boolean) => Ok(Value::Bool(*value)),
        (json, SchemaType::Any) if schema.preserve_unknown => Ok(Value::Unknown(json)),
        (_, expected) => Err(Fault::new(format!("invalid data, expected {}", type_name(expected)))),
    }
}

fn type_name(schema_type: SchemaType) -> &'static str {
    match schema_type {
        SchemaType::Any => "a known type",
        SchemaType::Object => "a map for the provided schema with type=object",
        SchemaType::Array => "an array for the provided schema with type=array",
        SchemaType::String => "string",
        SchemaType::Integer => "int",
        SchemaType::Number => "float",
        SchemaType::Boolean => "bool",
        SchemaType::IntOrString => "XIntOrString value to be either a string or integer",
    }
}

/// A number with a decimal point is not an integer, even if its fraction is zero.
fn integer<'d>(number: &serde_json::Number) -> Evaluated<'d> {
    let whole = number.as_i64().map(Value::Int);
    whole.ok_or_else(|| Fault::new("invalid data, expected int, got float64"))
}

fn string<'d>(text: &'d str, schema: &Structural) -> Evaluated<'d> {
    let format = schema.limits.as_ref().and_then(|limits| limits.format.as_ref());
    match format.map_or("", Format::name) {
        "duration" => time::parse_duration(text)
            .map(Value::Duration)
            .ok_or_else(|| Fault::new(format!("Invalid duration {text}"))),
        "date" => time::parse_time(&format!("{text}T00:00:00Z"))
            .map(Value::Timestamp)
            .ok_or_else(|| Fault::new(format!("Invalid date formatted string {text}"))),
        "date-time" => time::parse_time(text)
            .map(Value::Timestamp)
            .ok_or_else(|| Fault::new(format!("Invalid date-time formatted string {text}"))),
        // Decoded as kube-apiserver decodes values, which differs from its format check.
        "byte" => go_base64::decode_url(text)
            .map(|bytes| Value::Bytes(bytes.into()))
            .map_err(|why| Fault::new(format!("Invalid byte formatted string {text}: {why}"))),
        _ => Ok(Value::String(Text::Borrowed(text))),
    }
}

/// Returns the value of a document without a schema.
pub(crate) fn from_plain_json(json: &Json) -> Value<'_> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(Text::Borrowed(text)),
        Json::Array(elements) => Value::List(List::View {
            elements,
            items: None,
            kind: ATOMIC,
        }),
        Json::Object(entries) => Value::Map(Map::View {
            entries,
            schema: None,
            is_root: false,
        }),
    }
}

impl<'d> List<'d> {
    pub(crate) fn len(&self) -> usize {
        match self {
            List::Owned(elements) => elements.len(),
            List::View { elements, .. } => elements.len(),
        }
    }

    /// Returns the element at `index`; `None` past the end.
    pub(crate) fn get(&self, index: usize) -> Option<Evaluated<'d>> {
        match self {
            List::Owned(elements) => elements.get(index).cloned().map(Ok),
            List::View { elements, items, .. } => elements.get(index).map(|element| match items {
                Some(items) => from_json(element, items),
                None => Ok(from_plain_json(element)),
            }),
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Evaluated<'d>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Returns all elements.
    pub(crate) fn elements(&self) -> Result<Vec<Value<'d>>, Fault> {
        self.iter().collect()
    }
}

/// Returns the document's field name for the name `escaped` in expressions.
pub(crate) fn unescaped(escaped: &str) -> Cow<'_, str> {
    unescape(escaped).map_or(Cow::Borrowed(escaped), Cow::Owned)
}

impl<'d> Map<'d> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Map::Owned(entries) => entries.len(),
            Map::View { entries, .. } => entries.len(),
        }
    }

    /// Returns the entry under `key`.
    pub(crate) fn get(&self, key: &Value<'_>) -> Option<Evaluated<'d>> {
        match self {
            Map::Owned(entries) => entries.get(&Key::from_value(key)?).cloned().map(Ok),
            Map::View {
                entries,
                schema,
                is_root,
            } => {
                let Value::String(name) = key else { return None };
                entry(entries, *schema, *is_root, name)
            }
        }
    }

    /// Returns the keys, in order.
    pub(crate) fn keys(&self) -> Vec<Value<'d>> {
        match self {
            Map::Owned(entries) => entries.keys().map(Key::value).collect(),
            Map::View { entries, .. } => entries.keys().map(|key| Value::String(Text::Borrowed(key))).collect(),
        }
    }

    pub(crate) fn entries(&self) -> Result<Vec<(Value<'d>, Value<'d>)>, Fault> {
        let entry = |key: Value<'d>| {
            let value = self.get(&key).transpose()?;
            Ok(value.map(|value| (key, value)))
        };
        self.keys()
            .into_iter()
            .filter_map(|key| entry(key).transpose())
            .collect()
    }
}

fn entry<'d>(
    entries: &'d serde_json::Map<String, Json>,
    schema: Option<&'d Structural>,
    is_root: bool,
    name: &str,
) -> Option<Evaluated<'d>> {
    let Some(schema) = schema else {
        return entries.get(name).map(|value| Ok(from_plain_json(value)));
    };
    if let Additional::Typed(values) = &schema.additional
        && schema.properties.is_empty()
    {
        return entries.get(name).map(|value| from_json(value, values));
    }
    let unescaped = unescaped(name);
    let value = entries.get(&*unescaped)?;
    if is_root {
        match (&*unescaped, value) {
            ("apiVersion" | "kind", Json::String(text)) => return Some(Ok(Value::String(Text::Borrowed(text)))),
            ("metadata", Json::Object(_)) => return Some(Ok(from_plain_json(value))),
            _ => {}
        }
    }
    let property = schema.properties.get(&unescaped)?;
    // As in kube-apiserver, a property that is null is absent; an entry of a map is not.
    (!value.is_null()).then(|| from_json(value, property))
}

/// Returns the field `name` of a value; `None` if the field is absent, or if such values have no fields.
pub(crate) fn field_of<'d>(value: &Value<'d>, name: &str) -> Result<Option<Value<'d>>, Fault> {
    match value {
        Value::Map(map) => map.get(&Value::String(Text::Borrowed(name))).transpose(),
        Value::Object(object) => Ok(object.field(name)),
        Value::List(_) => Err(Fault::new("unsupported index type 'string' in list")),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::field_error::{FieldError, FieldErrors};
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn properties_that_are_null_are_absent_and_entries_of_maps_are_not() {
        let schema = Structural::compile(&json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "nullable": true},
                "map": {"type": "object", "additionalProperties": {"type": "string", "nullable": true}},
            },
            "x-kubernetes-validations": [
                {"rule": "!self.?name.hasValue()"},
                {"rule": "has(self.name)", "message": "no name"},
                {"rule": "self.name == self.name"},
                {"rule": "'a' in self.map"},
            ],
        }));
        let mut errors = FieldErrors::default();
        let document = json!({"name": null, "map": {"a": null}});
        Rules::compile(&schema).check(&schema, &document, None, &mut errors);
        let errors: Vec<_> = errors.as_slice().iter().map(FieldError::message).collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].ends_with("no name"), "{errors:?}");
        assert!(
            errors[1].contains("no such key: name evaluating rule: self.name == self.name"),
            "{errors:?}"
        );
    }
}
