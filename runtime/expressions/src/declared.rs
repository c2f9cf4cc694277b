//! Schema declarations as expressions see them: types and size bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use planesmith_dynamic::structural::{Additional, Format, Limits, SchemaType, Structural};

use crate::identifier::is_word;
use crate::types::Type;

/// The largest accepted request body, in bytes; an upper bound for the size of any document.
pub(crate) const MAX_REQUEST: u64 = 3 * 1024 * 1024;

/// The declaration of one part of a document.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The type.
    pub(crate) ty: Type,
    /// The maximum number of characters, elements or entries.
    pub(crate) max_elements: u64,
    /// The minimum serialized size, in bytes.
    pub(crate) min_size: u64,
    /// Fields, by their escaped names in expressions.
    pub(crate) fields: BTreeMap<String, Declared>,
    /// The element type of a list, or the value type of a map.
    pub(crate) element: Option<Box<Declared>>,
    /// The maximum number of characters of a map key.
    pub(crate) max_key: u64,
    /// True if map entries are accessible as fields: `map.name`.
    pub(crate) has_any_field: bool,
}

impl Declared {
    /// Returns the declaration of `schema`, or `None` if expressions cannot access such values. Type names of this part and its
    /// descendants start with `name`. `is_root` marks API objects, which have a kind and metadata.
    #[must_use]
    pub fn from_schema(schema: &Structural, is_root: bool, name: &str) -> Option<Self> {
        if is_root {
            return Self::of_plain(&with_object_meta(schema), name);
        }
        Self::of_plain(schema, name)
    }

    fn of_plain(schema: &Structural, name: &str) -> Option<Self> {
        let none = Limits::default();
        let limits = schema.limits.as_deref().unwrap_or(&none);
        Some(match schema.schema_type {
            SchemaType::IntOrString => {
                let most =
                    Limits::elements(limits.max_length).map_or(MAX_REQUEST - 2, |length| length.saturating_mul(4));
                Self::simple(Type::Dyn, most, 1)
            }
            SchemaType::Array => {
                let items = schema.items.as_deref()?;
                let element = Self::from_schema(items, items.embedded, &format!("{name}.@idx"))?;
                let most = Limits::elements(limits.max_items).unwrap_or((MAX_REQUEST - 2) / (element.min_size + 1));
                let ty = Type::list(element.ty.clone());
                Self {
                    element: Some(Box::new(element)),
                    ..Self::simple(ty, most, 2)
                }
            }
            SchemaType::Object => match &schema.additional {
                Additional::Typed(values) => {
                    let element = Self::from_schema(values, values.embedded, &format!("{name}.@elem"))?;
                    let most =
                        Limits::elements(limits.max_properties).unwrap_or((MAX_REQUEST - 2) / (element.min_size + 6));
                    Self::map(element, most)
                }
                Additional::None | Additional::Any | Additional::Refused => Self::object(schema, limits, name),
            },
            SchemaType::String => Self::string(limits),
            SchemaType::Boolean => Self::simple(Type::Bool, 0, 4),
            SchemaType::Number => Self::simple(Type::Double, 0, 1),
            SchemaType::Integer => Self::simple(Type::Int, 0, 1),
            SchemaType::Any => return None,
        })
    }

    /// A value without parts.
    pub(crate) fn simple(ty: Type, max_elements: u64, min_size: u64) -> Self {
        Self {
            ty,
            max_elements,
            min_size,
            fields: BTreeMap::new(),
            element: None,
            max_key: 0,
            has_any_field: false,
        }
    }

    /// A map of at most `most` entries.
    pub(crate) fn map(element: Declared, most: u64) -> Self {
        let ty = Type::map(element.ty.clone());
        Self {
            element: Some(Box::new(element)),
            ..Self::simple(ty, most, 2)
        }
    }

    /// An object type called `name`.
    pub(crate) fn with_fields(name: &str, fields: BTreeMap<String, Declared>, min_size: u64) -> Self {
        let types = fields
            .iter()
            .map(|(name, field)| (name.clone(), field.ty.clone()))
            .collect();
        Self {
            fields,
            ..Self::simple(Type::object(name, types), 0, min_size)
        }
    }

    fn string(limits: &Limits) -> Self {
        match limits.format.as_ref().map_or("", Format::name) {
            "byte" => Self::simple(
                Type::Bytes,
                Limits::elements(limits.max_length).unwrap_or(MAX_REQUEST - 2),
                2,
            ),
            "duration" => Self::simple(Type::Duration, 32, 3),
            "date" => Self::simple(Type::Timestamp, 12, 12),
            "date-time" => Self::simple(Type::Timestamp, 32, 21),
            _ => {
                let longest = limits
                    .allowed
                    .iter()
                    .filter_map(|value| value.as_str())
                    .map(str::len)
                    .max();
                let most = match (Limits::elements(limits.max_length), longest) {
                    // A character has up to four bytes.
                    (Some(length), _) => length.saturating_mul(4),
                    (None, Some(longest)) => longest as u64,
                    (None, None) if !limits.allowed.is_empty() => 0,
                    (None, None) => MAX_REQUEST - 2,
                };
                Self::simple(Type::String, most, 2)
            }
        }
    }

    fn object(schema: &Structural, limits: &Limits, name: &str) -> Self {
        let mut fields = BTreeMap::new();
        let mut min_size = 2;
        for (property, schema) in schema.properties.iter() {
            let Some(declared) = Self::from_schema(schema, schema.embedded, &format!("{name}.{property}")) else {
                continue;
            };
            if limits.required.iter().any(|required| **required == *property) && schema.default.is_none() {
                min_size += property.len() as u64 + declared.min_size + 4;
            }
            if let Some(escaped) = escape(property) {
                fields.insert(escaped, declared);
            }
        }
        Self::with_fields(name, fields, min_size)
    }

    /// Returns the maximum number of such values in one document.
    pub(crate) fn max_cardinality(&self) -> u64 {
        MAX_REQUEST / (self.min_size + 1)
    }
}

/// Adds the kind and metadata that every API object has, even if its schema does not declare them.
pub(crate) fn with_object_meta(schema: &Structural) -> Structural {
    let text = || Structural {
        schema_type: SchemaType::String,
        ..Structural::default()
    };
    let bounded = |name: &str, most: i64| {
        let declared = schema
            .properties
            .get("metadata")
            .and_then(|metadata| metadata.properties.get(name));
        let known = declared.and_then(|name| name.limits.as_ref()?.max_length);
        Structural {
            limits: Some(Box::new(Limits {
                max_length: Some(known.map_or(most, |known| known.min(most))),
                ..Limits::default()
            })),
            ..text()
        }
    };
    let metadata = Structural {
        schema_type: SchemaType::Object,
        // A generated suffix adds at least one character.
        properties: [
            ("name", bounded("name", 253)),
            ("generateName", bounded("generateName", 252)),
        ]
        .map(|(name, schema)| (name.into(), Arc::new(schema)))
        .into_iter()
        .collect(),
        ..Structural::default()
    };
    let of_all = [("apiVersion", text()), ("kind", text()), ("metadata", metadata)];
    Structural {
        properties: schema
            .properties
            .with(of_all.map(|(name, schema)| (name.into(), Arc::new(schema)))),
        ..schema.clone()
    }
}

/// Escapes a field name for use in expressions; `None` if it cannot be represented.
pub(crate) fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_word(name) {
        return Some(format!("__{name}__"));
    }
    if !name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
    {
        return None;
    }
    let escaped = name
        .replace("__", "\0")
        .replace('.', "__dot__")
        .replace('-', "__dash__");
    Some(escaped.replace('/', "__slash__").replace('\0', "__underscores__"))
}

/// Reverses [`escape`]; `None` for an invalid escape sequence.
pub(crate) fn unescape(escaped: &str) -> Option<String> {
    if !escaped.contains("__") {
        return None;
    }
    if let Some(word) = escaped.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"))
        && is_word(word)
    {
        return Some(word.to_owned());
    }
    let mut name = String::new();
    let mut rest = escaped;
    while let Some(start) = rest.find("__") {
        let (before, after) = rest.split_at(start);
        let (word, after) = after[2..].split_once("__")?;
        name.push_str(before);
        name.push_str(match word {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            _ => return None,
        });
        rest = after;
    }
    name.push_str(rest);
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_back() {
        for (name, escaped) in [
            ("plain", "plain"),
            ("namespace", "__namespace__"),
            ("a.b", "a__dot__b"),
            ("a-b/c", "a__dash__b__slash__c"),
            ("a__b", "a__underscores__b"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped).unwrap_or_else(|| escaped.to_owned()), name);
        }
        assert_eq!(escape("1a"), None);
        assert_eq!(escape("a b"), None);
    }
}
