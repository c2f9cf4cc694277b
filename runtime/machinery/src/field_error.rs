//! What is wrong with fields of an object, as causes of an `Invalid` Status.

/// Errors found in one object, in the order in which they were found.
///
/// Rules report by dotted path: `errors.required("spec.size", "")`. Inside nested values use [`FieldErrors::at`] to
/// prefix paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors {
    errors: Vec<FieldError>,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Dotted path with indexes and keys: `spec.ports[0].name`, `metadata.labels[a b]`.
    pub field: String,
    /// What kind of error it is.
    pub kind: FieldErrorKind,
    /// The offending value as the message shows it (Go's formatting); empty when the message shows none.
    pub value: String,
    /// The rest of the message; may be empty.
    pub detail: String,
}

/// What kind of error a field has; decides the cause's reason and the start of its message.
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
    /// `FieldValueTooMany`, "Too many".
    TooMany,
    /// `InternalError`, "Internal error".
    Internal,
    /// `FieldValueTypeInvalid`, "Invalid value".
    TypeInvalid,
}

impl FieldErrors {
    /// Adds an error.
    pub fn push(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    /// The errors so far.
    #[must_use]
    pub fn as_slice(&self) -> &[FieldError] {
        &self.errors
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }
}
