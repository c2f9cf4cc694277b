//! Validation of a document against its schema, in the order and wording of kube-apiserver.
//!
//! Existing errors are tolerated in a replacement: errors of a part that equals its counterpart in the old document are
//! dropped. Counterparts are fields of the same name and elements of keyed lists with the same keys.

mod combined;
mod content;
mod number;
mod old_elements;
mod outcome;

use std::cell::Cell;

use planesmith_machinery::field_error::{FieldErrorKind, FieldErrors};
use serde_json::Value;

use super::value_path::ValuePath;
use super::{Format, SchemaType, Structural};
pub use old_elements::OldElements;
use outcome::Outcome;

/// The members of every object; they come from the request, so they count as changed.
const TYPE_META: [&str; 2] = ["apiVersion", "kind"];

/// Steps that matching patterns may take in one document, a few seconds; see
/// [`Pattern::steps`](super::Pattern::steps). Texts beyond that do not match.
const MAX_STEPS: u64 = 1 << 31;

/// A value to check, and the value that it is compared with.
#[derive(Clone, Copy)]
struct Subject<'v, 'p> {
    value: &'v Value,
    /// The counterpart in the old document, if there is one.
    old: Option<&'v Value>,
    location: &'p ValuePath<'p>,
    /// Steps that matching patterns may still take.
    steps: &'p Cell<u64>,
}

impl Structural {
    /// Reports errors of `document`, the value of the field `root` of an object; `root` is empty for a whole object.
    pub fn validate(&self, document: &Value, root: &str, errors: &mut FieldErrors) {
        self.subject(document, None).report(root, errors);
    }

    /// Reports errors of `document` as a replacement of `old`, like [`Structural::validate`].
    pub fn validate_update(&self, document: &Value, old: &Value, root: &str, errors: &mut FieldErrors) {
        self.subject(document, Some(old)).report(root, errors);
    }

    fn subject<'v>(&self, value: &'v Value, old: Option<&'v Value>) -> Outcome {
        self.check(Subject {
            value,
            old,
            location: &ValuePath::Root,
            steps: &Cell::new(MAX_STEPS),
        })
    }

    /// Checks a value; errors are dropped if the value is unchanged.
    fn check(&self, subject: Subject<'_, '_>) -> Outcome {
        let outcome = self.check_as_new(subject);
        match subject.old {
            Some(old) if !outcome.is_valid() && self.is_same(subject.value, old) => outcome.without_errors(),
            _ => outcome,
        }
    }

    fn check_as_new(&self, subject: Subject<'_, '_>) -> Outcome {
        let mut outcome = Outcome::default();
        let typed = self.check_type(subject, &mut outcome);
        if subject.value.is_null() {
            self.check_allowed(subject, &mut outcome);
            return outcome;
        }
        // Every applicable check counts, independent of its result: the count selects the alternative to report.
        outcome.count(usize::from(typed));
        outcome.count(1);
        self.check_combined(subject, &mut outcome);
        match subject.value {
            Value::String(text) => {
                outcome.count(1);
                self.check_text(text, subject, &mut outcome);
                if self.check_format(text, subject.location, &mut outcome) {
                    outcome.count(1);
                }
            }
            Value::Number(number) => {
                outcome.count(2);
                self.check_number(number, subject.location, &mut outcome);
            }
            Value::Array(elements) => {
                outcome.count(2);
                self.check_list(elements, subject, &mut outcome);
            }
            Value::Null | Value::Bool(_) | Value::Object(_) => {}
        }
        outcome.count(1);
        self.check_allowed(subject, &mut outcome);
        if let Value::Object(entries) = subject.value {
            outcome.count(1);
            self.check_object(entries, subject, &mut outcome);
        }
        outcome.count(1);
        outcome
    }

    /// Checks the type of a value. Returns true if the schema declares a type or a format.
    fn check_type(&self, subject: Subject<'_, '_>, outcome: &mut Outcome) -> bool {
        let applies = self.schema_type != SchemaType::Any || self.format().is_some();
        match self.type_mismatch(subject.value) {
            Some((expected, found)) => outcome.wrong_type(subject.location, expected, found),
            None if applies || subject.value.is_null() => outcome.count(1),
            None => {}
        }
        applies
    }

    /// The type that a value should have and the one that it has, if these differ; or the formats, if there is one.
    fn type_mismatch(&self, value: &Value) -> Option<(&str, &'static str)> {
        let (actual, actual_format) = type_of(value);
        let expected = self.schema_type.name();
        if value.is_null() {
            return (self.schema_type != SchemaType::Any && !self.nullable).then_some((expected, actual));
        }
        let fits = self.schema_type.takes(actual)
            || (self.schema_type.takes("integer") && is_whole(value))
            || (self.schema_type.takes("number") && actual == "integer");
        match (self.format(), value) {
            (None, _) if self.schema_type == SchemaType::Any => None,
            // A format of texts does not apply to a list, so that any list passes.
            (Some(_), Value::String(_) | Value::Array(_))
                if !self.schema_type.takes("number") && !self.schema_type.takes("integer") =>
            {
                None
            }
            _ if fits => None,
            (Some(format), Value::Bool(_) | Value::Number(_) | Value::Object(_)) if format.name() != actual_format => {
                Some((format.name(), actual_format))
            }
            _ => Some((expected, actual)),
        }
    }

    fn format(&self) -> Option<&Format> {
        self.limits.as_ref()?.format.as_ref()
    }

    fn check_allowed(&self, subject: Subject<'_, '_>, outcome: &mut Outcome) {
        let Some(limits) = &self.limits else { return };
        if limits.allowed.is_empty()
            || limits
                .allowed
                .iter()
                .any(|allowed| content::equals(subject.value, allowed))
        {
            return;
        }
        let allowed: Vec<String> = limits.allowed.iter().map(content::quoted).collect();
        let detail = format!("supported values: {}", allowed.join(", "));
        outcome.add(
            subject.location.to_string(),
            FieldErrorKind::NotSupported,
            content::rendered(subject.value),
            detail,
        );
    }
}

/// The type of a value, and the format of its kind of numbers.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

/// True if a value is a floating point number that stands for an integer.
fn is_whole(value: &Value) -> bool {
    match value {
        Value::Number(number) if !number.is_i64() => number.as_f64().is_some_and(number::is_integer),
        _ => false,
    }
}

impl SchemaType {
    /// Its name in messages; empty when it is not declared.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SchemaType::Any => "",
            SchemaType::Object => "object",
            SchemaType::Array => "array",
            SchemaType::String => "string",
            SchemaType::Integer => "integer",
            SchemaType::Number => "number",
            SchemaType::Boolean => "boolean",
            SchemaType::IntOrString => "integer,string",
        }
    }

    fn takes(self, ty: &str) -> bool {
        match self {
            SchemaType::IntOrString => matches!(ty, "integer" | "string"),
            SchemaType::Any => false,
            other => other.name() == ty,
        }
    }
}

#[cfg(test)]
mod tests;
