//! Errors of the fields of an object: the causes of an `Invalid` Status.

mod bad_value;
mod sent_empty;

use std::fmt::Write;
use std::ops::{Deref, DerefMut};

use planesmith_wire::go_format::{self, quote};

pub use bad_value::{BadValue, Json, go_object};
pub use sent_empty::SentEmpty;
pub use sent_empty::holds_empty;

use crate::feature::Features;
use crate::time::Time;

/// Bytes of errors after which further errors are only counted. A list of owners can break one rule in each element,
/// and each message contains the whole list.
pub const MAX_SIZE: usize = 1 << 20;

/// Errors of one object, in the order in which they were found. Errors past [`MAX_SIZE`] are only counted.
///
/// Rules report by dotted path: `errors.required("spec.size", "")`. Inside nested values use [`FieldErrors::at`],
/// [`FieldErrors::at_index`] and [`FieldErrors::at_key`] to prefix paths; an empty path is the prefix itself.
///
/// Rules that depend on a feature read [`FieldErrors::features`], and those that depend on the time [`FieldErrors::now`]. The
/// default has the default features, and no time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors {
    errors: Vec<FieldError>,
    prefix: String,
    features: Features,
    now: Time,
    sent: SentEmpty,
    /// Bytes of texts in `errors`.
    size: usize,
    /// Number of errors that were dropped because `errors` was full.
    left_out: usize,
    /// Violations that existed before the write and are tolerated.
    tolerated: Vec<FieldError>,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Dotted path with indexes and keys: `spec.ports[0].name`, `metadata.labels[a b]`.
    pub field: String,
    /// Kind of the error.
    pub kind: FieldErrorKind,
    /// The offending value as it appears in the message (Go's formatting); empty if the message contains none.
    pub value: String,
    /// The rest of the message; may be empty.
    pub detail: String,
}

/// One error in the form of a `Status` cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// Machine-readable kind of the problem.
    pub reason: String,
    /// Human-readable description.
    pub message: String,
    /// Path of the field.
    pub field: String,
}

/// The kind of a field error; determines the reason of the cause and the start of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// `FieldValueRequired`, "Required value".
    Required,
    /// `FieldValueInvalid`, "Invalid value".
    Invalid,
    /// `FieldValueNotSupported`, "Unsupported value".
    NotSupported,
    /// `FieldValueForbidden`, "Forbidden".
    Forbidden,
    /// `FieldValueDuplicate`, "Duplicate value".
    Duplicate,
    /// `FieldValueNotFound`, "Not found".
    NotFound,
    /// `FieldValueTooLong`, "Too long".
    TooLong,
    /// `FieldValueTooShort`, "Too short".
    TooShort,
    /// `FieldValueTooMany`, "Too many".
    TooMany,
    /// `FieldValueTooFew`, "Too few".
    TooFew,
    /// `InternalError`, "Internal error".
    Internal,
    /// `FieldValueTypeInvalid`, "Invalid value".
    TypeInvalid,
}

impl FieldErrorKind {
    /// Returns the reason of the cause.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            FieldErrorKind::Required => "FieldValueRequired",
            FieldErrorKind::Invalid => "FieldValueInvalid",
            FieldErrorKind::NotSupported => "FieldValueNotSupported",
            FieldErrorKind::Forbidden => "FieldValueForbidden",
            FieldErrorKind::Duplicate => "FieldValueDuplicate",
            FieldErrorKind::NotFound => "FieldValueNotFound",
            FieldErrorKind::TooLong => "FieldValueTooLong",
            FieldErrorKind::TooShort => "FieldValueTooShort",
            FieldErrorKind::TooMany => "FieldValueTooMany",
            FieldErrorKind::TooFew => "FieldValueTooFew",
            FieldErrorKind::Internal => "InternalError",
            FieldErrorKind::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    /// Returns the start of the message.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            FieldErrorKind::Required => "Required value",
            FieldErrorKind::Invalid | FieldErrorKind::TypeInvalid => "Invalid value",
            FieldErrorKind::NotSupported => "Unsupported value",
            FieldErrorKind::Forbidden => "Forbidden",
            FieldErrorKind::Duplicate => "Duplicate value",
            FieldErrorKind::NotFound => "Not found",
            FieldErrorKind::TooLong => "Too long",
            FieldErrorKind::TooShort => "Too short",
            FieldErrorKind::TooMany => "Too many",
            FieldErrorKind::TooFew => "Too few",
            FieldErrorKind::Internal => "Internal error",
        }
    }
}

impl FieldError {
    /// Returns the message without the field.
    #[must_use]
    pub fn body(&self) -> String {
        let mut body = self.kind.title().to_owned();
        for part in [&self.value, &self.detail] {
            if !part.is_empty() {
                body.push_str(": ");
                body.push_str(part);
            }
        }
        body
    }

    /// Returns the number of bytes of its texts.
    #[must_use]
    pub fn size(&self) -> usize {
        self.field.len() + self.value.len() + self.detail.len()
    }

    /// Returns the message with the field.
    #[must_use]
    pub fn message(&self) -> String {
        format!("{}: {}", self.field, self.body())
    }
}

impl FieldErrors {
    /// Returns no errors, for the rules of a server with `features`.
    #[must_use]
    pub fn new(features: &Features) -> Self {
        Self {
            features: features.clone(),
            ..Self::default()
        }
    }

    /// The same errors, for the rules at the time `now`.
    #[must_use]
    pub fn with_time(self, now: Time) -> Self {
        Self { now, ..self }
    }

    /// The same errors, for an object that was sent in the body `sent`.
    #[must_use]
    pub fn with_sent(self, sent: &SentEmpty) -> Self {
        Self {
            sent: sent.clone(),
            ..self
        }
    }

    /// Returns no errors, for the same rules below no prefix: for checks whose result decides about others.
    #[must_use]
    pub fn separate(&self) -> Self {
        Self::new(&self.features).with_time(self.now).with_sent(&self.sent)
    }

    /// Returns the features of the server whose rules are checked.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Returns the time for which rules are checked.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// True if the client sent an empty list or map at `field`, which objects do not distinguish from an absent one. It
    /// reads the whole body, so rules ask for it once per object, not once per element.
    #[must_use]
    pub fn was_sent_empty(&self, field: &str) -> bool {
        let path = match self.prefix.as_str() {
            "" => field.to_owned(),
            prefix => format!("{prefix}.{field}"),
        };
        self.sent.contains(&path)
    }

    /// Drops all errors so far.
    pub fn clear(&mut self) {
        let prefix = std::mem::take(&mut self.prefix);
        *self = Self {
            prefix,
            ..self.separate()
        };
    }

    /// Adds an error unchanged, without the current prefix.
    pub fn push(&mut self, error: FieldError) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        self.size += error.size();
        self.errors.push(error);
    }

    /// Adds all errors of `other`.
    pub fn append(&mut self, other: FieldErrors) {
        for error in other.errors {
            self.push(error);
        }
        self.left_out += other.left_out;
        self.tolerated.extend(other.tolerated);
    }

    /// Adds a violation that is tolerated because it existed before the write. The client receives a warning; it does
    /// not count as an error.
    pub fn tolerate(&mut self, error: FieldError) {
        self.tolerated.push(error);
    }

    /// Removes the tolerated violations and returns each as the text of a warning.
    pub fn take_tolerated(&mut self) -> Vec<String> {
        let tolerated = std::mem::take(&mut self.tolerated);
        tolerated.iter().map(FieldError::message).collect()
    }

    /// Returns the errors so far.
    #[must_use]
    pub fn as_slice(&self) -> &[FieldError] {
        &self.errors
    }

    /// Returns the number of errors so far, including those that are only counted.
    #[must_use]
    pub fn count(&self) -> usize {
        self.errors.len() + self.left_out
    }

    /// True if there are no errors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns the message of all errors: a single one unchanged, several in brackets without duplicates. `None` if
    /// there are no errors.
    #[must_use]
    pub fn joined(&self) -> Option<String> {
        let mut messages: Vec<String> = self.errors.iter().map(FieldError::message).collect();
        if self.left_out > 0 {
            messages.push(format!("and {} more", self.left_out));
        }
        (!messages.is_empty()).then(|| go_format::aggregate(&messages))
    }

    /// Returns one cause per error, including duplicates.
    #[must_use]
    pub fn causes(&self) -> Vec<Cause> {
        let cause = |error: &FieldError| Cause {
            reason: error.kind.reason().to_owned(),
            message: error.body(),
            field: error.field.clone(),
        };
        self.errors.iter().map(cause).collect()
    }
}

/// Methods that report errors; `field` is a dotted path below the current prefix.
impl FieldErrors {
    /// Reports a missing value.
    pub fn required(&mut self, field: &str, detail: impl Into<String>) {
        self.add(field, FieldErrorKind::Required, String::new(), detail.into());
    }

    /// Reports a value that is malformed or out of bounds.
    pub fn invalid(&mut self, field: &str, value: impl BadValue, detail: impl Into<String>) {
        self.add(field, FieldErrorKind::Invalid, self.render(&value), detail.into());
    }

    /// Reports a changed field that may not change, without its value: the form of kube-apiserver's declared rules.
    pub fn immutable(&mut self, field: &str) {
        self.invalid(field, serde_json::Value::Null, "field is immutable");
    }

    /// Reports a value of the wrong type.
    pub fn type_invalid(&mut self, field: &str, value: impl BadValue, detail: impl Into<String>) {
        self.add(field, FieldErrorKind::TypeInvalid, self.render(&value), detail.into());
    }

    /// Reports a value outside a set of supported values, which the message lists in alphabetic order.
    pub fn not_supported(&mut self, field: &str, value: impl BadValue, supported: &[&str]) {
        let mut supported = supported.to_vec();
        supported.sort_unstable();
        self.not_supported_in_order(field, value, &supported);
    }

    /// Reports a value outside a set of supported values, which the message lists in the given order.
    pub fn not_supported_in_order(&mut self, field: &str, value: impl BadValue, supported: &[&str]) {
        let quoted: Vec<String> = supported.iter().map(|text| quote(text)).collect();
        let detail = match quoted.is_empty() {
            true => String::new(),
            false => format!("supported values: {}", quoted.join(", ")),
        };
        self.add(field, FieldErrorKind::NotSupported, self.render(&value), detail);
    }

    /// Reports a value that is well-formed but not permitted here.
    pub fn forbidden(&mut self, field: &str, detail: impl Into<String>) {
        self.add(field, FieldErrorKind::Forbidden, String::new(), detail.into());
    }

    /// Reports a duplicate value.
    pub fn duplicate(&mut self, field: &str, value: impl BadValue) {
        self.add(field, FieldErrorKind::Duplicate, self.render(&value), String::new());
    }

    /// Reports a reference to something that does not exist.
    pub fn not_found(&mut self, field: &str, value: impl BadValue) {
        self.add(field, FieldErrorKind::NotFound, self.render(&value), String::new());
    }

    /// Reports a value with too many bytes.
    pub fn too_long(&mut self, field: &str, max_bytes: u64) {
        self.add(
            field,
            FieldErrorKind::TooLong,
            String::new(),
            counted("may not be more than", max_bytes, "byte"),
        );
    }

    /// Reports a value with too many characters.
    pub fn too_many_characters(&mut self, field: &str, max: u64) {
        self.add(
            field,
            FieldErrorKind::TooLong,
            String::new(),
            counted("may not be more than", max, "character"),
        );
    }

    /// Reports a value with too few characters.
    pub fn too_short(&mut self, field: &str, min: u64) {
        self.add(
            field,
            FieldErrorKind::TooShort,
            String::new(),
            counted("must be at least", min, "character"),
        );
    }

    /// Reports a list or map with too many entries.
    pub fn too_many(&mut self, field: &str, actual: usize, max: u64) {
        let detail = counted("must have at most", max, "item");
        self.add(field, FieldErrorKind::TooMany, actual.to_string(), detail);
    }

    /// Reports a list or map with too few entries.
    pub fn too_few(&mut self, field: &str, actual: usize, min: u64) {
        let detail = counted("must have at least", min, "item");
        self.add(field, FieldErrorKind::TooFew, actual.to_string(), detail);
    }

    /// Reports a failure that the value did not cause.
    pub fn internal(&mut self, field: &str, detail: impl Into<String>) {
        self.add(field, FieldErrorKind::Internal, String::new(), detail.into());
    }

    /// Adds an error whose field is relative to the current prefix, for combinations that no other method covers.
    pub fn report(&mut self, error: FieldError) {
        let mut path = self.prefix.clone();
        join(&mut path, &error.field);
        self.push(FieldError { field: path, ..error });
    }

    fn add(&mut self, field: &str, kind: FieldErrorKind, value: String, detail: String) {
        self.report(FieldError {
            field: field.to_owned(),
            kind,
            value,
            detail,
        });
    }

    /// Returns the value as it appears in the message; empty if no more messages are recorded.
    fn render(&self, value: &impl BadValue) -> String {
        if self.is_full() {
            String::new()
        } else {
            value.rendered()
        }
    }

    fn is_full(&self) -> bool {
        self.size > MAX_SIZE
    }
}

/// Methods that change the prefix.
impl FieldErrors {
    /// Returns the current prefix; empty at the root.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Reports below `field` until the result is dropped.
    pub fn at(&mut self, field: &str) -> Scope<'_> {
        let outer = self.prefix.len();
        join(&mut self.prefix, field);
        Scope { errors: self, outer }
    }

    /// Reports below the element at `index` of the list `field`.
    pub fn at_index(&mut self, field: &str, index: usize) -> Scope<'_> {
        let scope = self.at(field);
        // Writing to a String cannot fail.
        let _ = write!(scope.errors.prefix, "[{index}]");
        scope
    }

    /// Reports below the entry under `key` of the map `field`.
    pub fn at_key(&mut self, field: &str, key: &str) -> Scope<'_> {
        let scope = self.at(field);
        for part in ["[", key, "]"] {
            scope.errors.prefix.push_str(part);
        }
        scope
    }
}

/// Errors below a prefix; dropping the scope restores the previous prefix.
#[derive(Debug)]
pub struct Scope<'a> {
    errors: &'a mut FieldErrors,
    outer: usize,
}

impl Deref for Scope<'_> {
    type Target = FieldErrors;

    fn deref(&self) -> &FieldErrors {
        self.errors
    }
}

impl DerefMut for Scope<'_> {
    fn deref_mut(&mut self) -> &mut FieldErrors {
        self.errors
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        self.errors.prefix.truncate(self.outer);
    }
}

fn join(path: &mut String, field: &str) {
    if !path.is_empty() && !field.is_empty() && !field.starts_with('[') {
        path.push('.');
    }
    path.push_str(field);
}

/// Returns a bound in words, e.g. `must have at most 1 item`.
#[must_use]
pub fn counted(words: &str, count: u64, unit: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{words} {count} {unit}{plural}")
}

#[cfg(test)]
mod tests;
