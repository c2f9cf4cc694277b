//! Values as documents, for what mutations construct.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map as JsonMap, Value as Json};

use crate::functions::format::{double, seconds};
use crate::value::{Constructed, Fault, Key, List, Map, Value};

/// The maximum number of parts of a document. Values share parts, so that a small value can describe a huge document.
const MAX_PARTS: usize = 1 << 20;

/// The maximum size of the strings of a document, in bytes.
const MAX_TEXT: usize = 8 << 20;

/// The maximum nesting of a document.
const MAX_DEPTH: usize = 512;

impl Constructed<'_> {
    /// Checks that each nested object has the type name of its place: that of a field `spec` of `Object` is `Object.spec`.
    ///
    /// # Errors
    ///
    /// The objects with other names, one a line.
    pub fn check_type_names(&self) -> Result<(), String> {
        let mut problems = Vec::new();
        let mut parts = MAX_PARTS;
        check_fields(self, &mut self.name.to_owned(), &mut parts, &mut problems);
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems.join("\n")),
        }
    }
}

fn check_fields(object: &Constructed<'_>, path: &mut String, parts: &mut usize, problems: &mut Vec<String>) {
    for (name, value) in &object.fields {
        let length = path.len();
        path.push('.');
        path.push_str(name);
        check_value(value, path, parts, problems);
        path.truncate(length);
    }
}

fn check_value(value: &Value<'_>, path: &mut String, parts: &mut usize, problems: &mut Vec<String>) {
    *parts = parts.saturating_sub(1);
    if *parts == 0 || problems.len() >= 100 || path.len() > MAX_TEXT {
        return;
    }
    match value {
        Value::Object(object) => {
            if object.name != *path {
                problems.push(format!(
                    "unexpected type name {:?}, expected {path:?}, which matches field name path from root Object type",
                    object.name
                ));
            }
            check_fields(object, path, parts, problems);
        }
        Value::List(List::Owned(elements)) => {
            for element in elements.iter() {
                check_value(element, path, parts, problems);
            }
        }
        Value::Map(Map::Owned(entries)) => {
            for value in entries.values() {
                check_value(value, path, parts, problems);
            }
        }
        _ => {}
    }
}

impl Value<'_> {
    /// Returns the value as a JSON document: bytes in base64, timestamps and durations as texts.
    ///
    /// # Errors
    ///
    /// A value that JSON cannot represent, or a document beyond the limits of a request.
    pub fn to_json(&self) -> Result<Json, Fault> {
        let mut writer = Writer {
            parts: MAX_PARTS,
            text: MAX_TEXT,
        };
        writer.value(self, 0)
    }
}

struct Writer {
    parts: usize,
    text: usize,
}

impl Writer {
    fn value(&mut self, value: &Value<'_>, depth: usize) -> Result<Json, Fault> {
        self.parts = self.parts.checked_sub(1).ok_or_else(too_large)?;
        if depth > MAX_DEPTH {
            return Err(too_large());
        }
        Ok(match value {
            Value::Null | Value::Optional(None) => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::from(*value),
            Value::Uint(value) => Json::from(*value),
            Value::Double(value) => number(*value)?,
            Value::String(text) => self.text(text)?,
            Value::Bytes(bytes) => self.text(&STANDARD.encode(bytes))?,
            Value::Duration(nanoseconds) => self.text(&seconds(*nanoseconds))?,
            Value::Timestamp(time) => self.text(&time.to_string())?,
            Value::List(list) => {
                let mut elements = Vec::new();
                for element in list.iter() {
                    elements.push(self.value(&element?, depth + 1)?);
                }
                Json::Array(elements)
            }
            Value::Map(map) => {
                let mut entries = JsonMap::new();
                for (key, value) in map.entries()? {
                    let Some(Key::String(name)) = Key::from_value(&key) else {
                        let shown = crate::functions::format::plain(&key);
                        return Err(Fault::new(format!(
                            "map key {shown:?} is of type {}, not string",
                            key.type_name()
                        )));
                    };
                    self.text = self.text.checked_sub(name.len()).ok_or_else(too_large)?;
                    entries.insert(name.to_string(), self.value(&value, depth + 1)?);
                }
                Json::Object(entries)
            }
            Value::Object(object) => {
                let mut entries = JsonMap::new();
                for (name, value) in &object.fields {
                    self.text = self.text.checked_sub(name.len()).ok_or_else(too_large)?;
                    entries.insert((*name).to_owned(), self.value(value, depth + 1)?);
                }
                Json::Object(entries)
            }
            Value::Optional(Some(value)) => self.value(value, depth + 1)?,
            Value::Unknown(json) => (*json).clone(),
            Value::Type(_) | Value::Library(_) => {
                return Err(Fault::new(format!(
                    "type conversion error from '{}' to 'google.protobuf.Value'",
                    value.type_name()
                )));
            }
        })
    }

    fn text(&mut self, text: &str) -> Result<Json, Fault> {
        self.text = self.text.checked_sub(text.len()).ok_or_else(too_large)?;
        Ok(Json::from(text))
    }
}

fn number(value: f64) -> Result<Json, Fault> {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and in range")]
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Ok(Json::from(value as i64));
    }
    let number = serde_json::Number::from_f64(value);
    number
        .map(Json::Number)
        .ok_or_else(|| Fault::new(format!("json: unsupported value: {}", double(value))))
}

fn too_large() -> Fault {
    Fault::new("the document is too large")
}
