//! Objects of the API inside other objects: they have a type and metadata.

use planesmith_machinery::field_error::{BadValue, FieldError, FieldErrorKind, FieldErrors};
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::{NameRule, Scope};
use planesmith_machinery::validation::check_on_create;
use planesmith_wire::names;
use serde_json::{Map, Value};

use super::Structural;
use super::bounded::Bounded;
use super::value_path::ValuePath;

const MUST_BE_TEXT: &str = "must be a string";

/// The treatment of metadata that is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It is an error.
    Refused,
    /// The readable part is kept.
    Dropped,
}

impl Structural {
    /// Replaces the metadata of embedded objects by its decoded and encoded form. Returns the paths of dropped fields, which
    /// metadata does not have; at most 100.
    ///
    /// # Errors
    ///
    /// When metadata, `apiVersion` or `kind` of an embedded object is of the wrong type, unless that is dropped.
    pub fn complete_embedded(
        &self,
        document: &mut Value,
        malformed: Malformed,
    ) -> Result<Vec<String>, Box<FieldError>> {
        let mut dropped = Bounded::default();
        self.complete_at(document, malformed, &ValuePath::Root, &mut dropped)?;
        Ok(dropped.sorted())
    }

    fn complete_at(
        &self,
        value: &mut Value,
        malformed: Malformed,
        location: &ValuePath<'_>,
        dropped: &mut Bounded,
    ) -> Result<(), Box<FieldError>> {
        if !self.has_embedded {
            return Ok(());
        }
        match value {
            Value::Object(entries) => {
                if self.embedded {
                    complete(entries, malformed, location, dropped)?;
                }
                for (name, value) in entries {
                    match self.entry(name) {
                        Some((schema, true)) => {
                            schema.complete_at(value, malformed, &ValuePath::Key(location, name), dropped)?;
                        }
                        Some((schema, false)) => {
                            schema.complete_at(value, malformed, &ValuePath::Field(location, name), dropped)?;
                        }
                        None => {}
                    }
                }
            }
            Value::Array(elements) => {
                let Some(items) = &self.items else { return Ok(()) };
                for (index, element) in elements.iter_mut().enumerate() {
                    items.complete_at(element, malformed, &ValuePath::Element(location, index), dropped)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reports embedded objects without a type, or with metadata that no object could have.
    pub fn check_embedded(&self, document: &Value, errors: &mut FieldErrors) {
        self.check_embedded_at(document, &ValuePath::Root, errors);
    }

    fn check_embedded_at(&self, value: &Value, location: &ValuePath<'_>, errors: &mut FieldErrors) {
        if !self.has_embedded {
            return;
        }
        match value {
            Value::Object(entries) => {
                if self.embedded {
                    check(entries, &mut errors.at(&location.to_string()));
                }
                for (name, value) in entries {
                    match self.entry(name) {
                        Some((schema, true)) => {
                            schema.check_embedded_at(value, &ValuePath::Key(location, name), errors)
                        }
                        Some((schema, false)) => {
                            schema.check_embedded_at(value, &ValuePath::Field(location, name), errors)
                        }
                        None => {}
                    }
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    if let Some(items) = &self.items {
                        items.check_embedded_at(element, &ValuePath::Element(location, index), errors);
                    }
                }
            }
            _ => {}
        }
    }
}

fn complete(
    entries: &mut Map<String, Value>,
    malformed: Malformed,
    location: &ValuePath<'_>,
    dropped: &mut Bounded,
) -> Result<(), Box<FieldError>> {
    for name in ["apiVersion", "kind"] {
        match entries.get(name) {
            None | Some(Value::String(_)) => {}
            Some(_) if malformed == Malformed::Dropped => drop(entries.remove(name)),
            Some(value) => {
                return Err(refusal(
                    &ValuePath::Field(location, name),
                    value,
                    MUST_BE_TEXT.to_owned(),
                ));
            }
        }
    }
    let Some(metadata) = entries.get_mut("metadata") else {
        return Ok(());
    };
    let here = ValuePath::Field(location, "metadata");
    let mut read = ObjectMeta::default();
    match json::from_value(metadata, &mut read, Strictness::Strict) {
        Ok(findings) => {
            let unknown = findings.messages().iter();
            let unknown = unknown.filter_map(|message| message.strip_prefix("unknown field \"")?.strip_suffix('"'));
            for path in unknown {
                dropped.push(|| format!("{here}.{path}"));
            }
        }
        Err(error) if malformed == Malformed::Refused => return Err(refusal(&here, metadata, error.to_string())),
        Err(_) => read = readable_part(metadata),
    }
    *metadata = json::to_value(&read);
    Ok(())
}

/// Metadata with the fields of `metadata` that it can have.
pub(super) fn readable(metadata: &Value) -> Value {
    let mut read = ObjectMeta::default();
    if json::from_value(metadata, &mut read, Strictness::Lenient).is_err() {
        read = readable_part(metadata);
    }
    json::to_value(&read)
}

/// Returns the readable fields of malformed metadata: a field is dropped as a whole if any part of it is of the wrong type.
pub(crate) fn readable_part(metadata: &Value) -> ObjectMeta {
    let mut read = ObjectMeta::default();
    for (name, value) in metadata.as_object().into_iter().flatten() {
        let field = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        if json::from_value(&field, &mut ObjectMeta::default(), Strictness::Lenient).is_ok() {
            // It was read just now.
            let _ = json::from_value(&field, &mut read, Strictness::Lenient);
        }
    }
    read
}

fn refusal(location: &ValuePath<'_>, value: &Value, detail: String) -> Box<FieldError> {
    Box::new(FieldError {
        field: location.to_string(),
        kind: FieldErrorKind::Invalid,
        value: value.rendered(),
        detail,
    })
}

fn check(entries: &Map<String, Value>, errors: &mut FieldErrors) {
    for name in ["apiVersion", "kind"] {
        if !entries.contains_key(name) {
            errors.required(name, "");
        }
    }
    for name in ["apiVersion", "kind"] {
        match entries.get(name) {
            None => {}
            Some(Value::String(text)) if text.is_empty() => errors.invalid(name, text, "must not be empty"),
            Some(Value::String(text)) if name == "kind" => check_kind(text, errors),
            Some(Value::String(text)) if GroupVersion::parse(text).is_err() => {
                errors.invalid(name, text, format!("unexpected GroupVersion string: {text}"));
            }
            Some(Value::String(_)) => {}
            Some(other) => errors.invalid(name, other, MUST_BE_TEXT),
        }
    }
    let Some(metadata) = entries.get("metadata") else {
        return;
    };
    let mut read = ObjectMeta::default();
    if let Err(error) = json::from_value(metadata, &mut read, Strictness::Lenient) {
        errors.invalid("metadata", metadata, error.to_string());
        return;
    }
    if read.name.is_empty() {
        // An embedded object needs no name.
        "fakename".clone_into(&mut read.name);
    }
    let scope = match read.namespace.is_empty() {
        true => Scope::Cluster,
        false => Scope::Namespaced,
    };
    check_on_create(&read, scope, NameRule::PathSegment, errors);
}

fn check_kind(kind: &str, errors: &mut FieldErrors) {
    let complaints = names::dns_label_1035(&kind.to_lowercase());
    if !complaints.is_empty() {
        let complaint = format!(
            "may have mixed case, but should otherwise match: {}",
            complaints.join(",")
        );
        errors.invalid("kind", kind, complaint);
    }
}
