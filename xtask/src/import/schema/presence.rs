//! Required fields and defaults.

use serde_json::{Value, json};

use super::Part;
use super::words::Words;
use crate::import::draft::literal;

/// The type of a field, optional or not, and further keys.
#[derive(Debug, Default)]
pub(super) struct Presence {
    pub(super) ty: String,
    pub(super) keys: Vec<String>,
}

impl Presence {
    /// Follows the semantics of definitions: `required` refuses absent fields, and a default replaces only absent ones.
    ///
    /// If an empty value is refused anyway, by a bound or by a required field of a struct (`holds_required`), the field needs
    /// no `Option` to detect its absence.
    pub(super) fn of_definition(words: &mut Words<'_>, part: &Part, required: bool, holds_required: bool) -> Self {
        let default = default(words.take("default"));
        let refuses_empty = part.bounds.refuses_empty || holds_required;
        let has_empty_form = matches!(part.ty.as_str(), "String" | "ByteString")
            || part.ty.starts_with("Vec<")
            || part.ty.starts_with("BTreeMap<");
        let says_about_empty = default.is_some() || part.bounds.refuses_empty || bounds_text(part);
        let is_plain = match required {
            true => refuses_empty && default.is_none(),
            false => has_empty_form && !says_about_empty,
        };
        let mut keys = Vec::new();
        // A field with a default is never empty: OpenAPI lists it as required, as in the definition.
        let listed = if default.is_some() { "expected" } else { "required" };
        keys.extend(required.then(|| listed.to_owned()));
        keys.extend(default);
        Self {
            ty: match is_plain {
                true => part.ty.clone(),
                false => format!("Option<{}>", part.ty),
            },
            keys,
        }
    }

    /// Follows the semantics of documents generated from Go: a default equal to the zero value means that the field is not a
    /// pointer.
    pub(super) fn of_document(words: &mut Words<'_>, part: &Part, required: bool) -> Self {
        let zero = [json!({}), json!(""), json!(0), json!(false)];
        let is_value = words
            .take_as("default", |default| zero.contains(default).then_some(()))
            .is_some();
        let default = default(words.take("default"));
        let is_plain = part.ty == "String"
            || ["Time", "MicroTime", "ByteString", "AnyJson", "RawExtension"].contains(&part.ty.as_str())
            || part.ty.starts_with("Vec<")
            || part.ty.starts_with("BTreeMap<");
        let mut keys = Vec::new();
        keys.extend(required.then(|| "keep".to_owned()));
        keys.extend(default);
        Self {
            ty: match required || is_value || is_plain {
                true => part.ty.clone(),
                false => format!("Option<{}>", part.ty),
            },
            keys,
        }
    }
}

/// True if there is a pattern, which the empty string may not match.
fn bounds_text(part: &Part) -> bool {
    part.ty == "String" && part.bounds.keys.iter().any(|key| key.starts_with("pattern"))
}

/// Returns the key of a default.
fn default(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(format!("default = {}", literal(text))),
        Value::Object(_) | Value::Array(_) => Some(format!("default = json({})", literal(&value.to_string()))),
        value => Some(format!("default = {value}")),
    }
}
