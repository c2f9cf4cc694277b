//! Lists and maps that a client sends with nothing in them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::FieldErrors;

/// Where a client sent `[]` or `{}`. Objects do not tell that from nothing, but messages about it do: what is not there
/// is shown as `null`.
#[derive(Clone, Debug, Default)]
pub struct SentEmpty(BTreeMap<String, &'static str>);

impl SentEmpty {
    /// Finds them in JSON.
    #[must_use]
    pub fn of(json: &[u8]) -> Self {
        let mut found = Self::default();
        if holds_empty(json)
            && let Ok(document) = serde_json::from_slice(json)
        {
            found.look_at(&document, &mut String::new());
        }
        found
    }

    fn look_at(&mut self, value: &Value, path: &mut String) {
        let outer = path.len();
        match value {
            Value::Array(list) if list.is_empty() => {
                self.0.insert(path.clone(), "[]");
            }
            Value::Array(list) => {
                for (index, element) in list.iter().enumerate() {
                    path.push_str(&format!("[{index}]"));
                    self.look_at(element, path);
                    path.truncate(outer);
                }
            }
            Value::Object(map) if map.is_empty() => {
                self.0.insert(path.clone(), "{}");
            }
            Value::Object(map) => {
                for (name, member) in map {
                    super::join(path, name);
                    self.look_at(member, path);
                    path.truncate(outer);
                }
            }
            _ => {}
        }
    }

    /// The errors as the client is to see them.
    #[must_use]
    pub fn shown_in<'e>(&self, errors: &'e FieldErrors) -> Cow<'e, FieldErrors> {
        let mut errors = Cow::Borrowed(errors);
        if self.0.is_empty() {
            return errors;
        }
        for index in 0..errors.errors.len() {
            let error = &errors.errors[index];
            if error.value == "null"
                && let Some(shown) = self.0.get(&error.field)
            {
                (*shown).clone_into(&mut errors.to_mut().errors[index].value);
            }
        }
        errors
    }
}

/// Whether anything in JSON text looks empty; most bodies need no second reading.
pub(crate) fn holds_empty(json: &[u8]) -> bool {
    let mut significant = json.iter().filter(|byte| !byte.is_ascii_whitespace());
    let mut last = 0;
    significant.any(|&byte| matches!((std::mem::replace(&mut last, byte), byte), (b'[', b']') | (b'{', b'}')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_error::Json;

    #[test]
    fn only_what_was_sent_is_shown_as_empty() {
        let sent = SentEmpty::of(br#"{"spec":{"labels":{},"ports":[{"names":[]}],"count":0}}"#);
        let mut errors = FieldErrors::default();
        for field in ["spec.labels", "spec.ports[0].names", "spec.other"] {
            errors.invalid(field, Json("null"), "");
        }
        let shown = sent.shown_in(&errors);
        let values: Vec<&str> = shown.as_slice().iter().map(|error| error.value.as_str()).collect();
        assert_eq!(values, ["{}", "[]", "null"]);
    }
}
