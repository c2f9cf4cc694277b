//! Whether a field has to be there, and what stands in for it.

use serde_json::{Value, json};

use super::Part;
use super::words::Words;
use crate::import::draft::literal;

/// The type of a field with the possibility of its absence, and the keys that say the rest.
#[derive(Debug, Default)]
pub(super) struct Presence {
    pub(super) ty: String,
    pub(super) keys: Vec<String>,
}

impl Presence {
    /// As definitions mean it: `required` is about fields that are not there, a default is not about empty ones.
    ///
    /// Where what is empty is refused anyway, by a bound or because of what is required inside of a struct
    /// (`holds_required`), a field needs no `Option` to be missed.
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
        // A field with a default is never empty: it is listed as required, as it was.
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

    /// As documents of Go types mean it: the zero value as a default is that of a field that is no pointer.
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

/// Whether there is a pattern, which the empty text may not match.
fn bounds_text(part: &Part) -> bool {
    part.ty == "String" && part.bounds.keys.iter().any(|key| key.starts_with("pattern"))
}

/// The key of a default.
fn default(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(format!("default = {}", literal(text))),
        Value::Object(_) | Value::Array(_) => Some(format!("default = json({})", literal(&value.to_string()))),
        value => Some(format!("default = {value}")),
    }
}
