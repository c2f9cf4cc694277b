//! The outcome of a check.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use planesmith_machinery::field_error::{FieldError, FieldErrorKind, FieldErrors, MAX_SIZE};
use planesmith_wire::go_format::quote;

use super::ValuePath;

/// Maximum number of errors that are kept. Merging that many at every level of a document is cheap.
const MAX_ERRORS: usize = 2000;

/// The outcome of a check: errors, each once, and the number of checks on the way.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Fields are places in the document, not yet fields of an object.
    errors: Vec<FieldError>,
    /// Digests of `errors`.
    seen: HashSet<u64>,
    /// Bytes of `errors`.
    size: usize,
    count: usize,
}

impl Outcome {
    pub(super) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// True if further errors are dropped, so that none need be looked for.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS || self.size > MAX_SIZE
    }

    /// The number of checks; of alternatives that all fail the one with the most is explained.
    pub(super) fn checks(&self) -> usize {
        self.count
    }

    /// Notes that checks were made.
    pub(super) fn count(&mut self, checks: usize) {
        self.count += checks;
    }

    pub(super) fn without_errors(self) -> Self {
        Self {
            count: self.count,
            ..Self::default()
        }
    }

    pub(super) fn merge(&mut self, other: Outcome) {
        self.count += other.count;
        for error in other.errors {
            self.push(error);
        }
    }

    pub(super) fn add(&mut self, field: String, kind: FieldErrorKind, value: String, detail: String) {
        self.push(FieldError {
            field,
            kind,
            value,
            detail,
        });
    }

    /// An error that says itself where it is, and is reported about the whole document.
    pub(super) fn add_about_all(&mut self, detail: String) {
        self.add(String::new(), FieldErrorKind::Invalid, "\"\"".to_owned(), detail);
    }

    /// The value at `location` breaks a rule, which `rule` continues the location with.
    pub(super) fn invalid(&mut self, location: &ValuePath<'_>, value: String, rule: &str) {
        if self.is_full() {
            return;
        }
        let detail = format!("{location} in body {rule}");
        self.add(location.to_string(), FieldErrorKind::Invalid, value, detail);
    }

    /// Adds the error for a value at `location` whose type is `found` and not `expected`.
    pub(super) fn wrong_type(&mut self, location: &ValuePath<'_>, expected: &str, found: &str) {
        if self.is_full() {
            return;
        }
        let found = quote(found);
        let detail = format!("{location} in body must be of type {expected}: {found}");
        self.add(location.to_string(), FieldErrorKind::TypeInvalid, found, detail);
    }

    fn push(&mut self, error: FieldError) {
        if self.is_full() {
            return;
        }
        let mut digest = DefaultHasher::new();
        (&error.field, error.kind.title(), error.kind.reason(), &error.detail).hash(&mut digest);
        if self.seen.insert(digest.finish()) {
            self.size += error.size();
            self.errors.push(error);
        }
    }

    /// Reports the errors of a document that is the value of the field `root`.
    pub(super) fn report(self, root: &str, errors: &mut FieldErrors) {
        for error in self.errors {
            let below = error.field.strip_prefix('.').unwrap_or(&error.field);
            let field = match (root, below) {
                ("", "") => "<nil>".to_owned(),
                ("", below) => below.to_owned(),
                (root, "") => root.to_owned(),
                (root, below) => format!("{root}.{below}"),
            };
            errors.report(FieldError { field, ..error });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_with_long_places_are_few() {
        let name = "k".repeat(100_000);
        let location = ValuePath::Entry(&ValuePath::Root, &name);
        let mut all = Outcome::default();
        for index in 0..1000 {
            let mut one = Outcome::default();
            one.invalid(&ValuePath::Element(&location, index), "0".to_owned(), "should be more");
            one.wrong_type(&ValuePath::Element(&location, index), "string", "integer");
            all.merge(one);
        }
        assert!(all.is_full());
        let kept: usize = all.errors.iter().map(FieldError::size).sum();
        assert!((MAX_SIZE..MAX_SIZE + 300_000).contains(&kept), "{kept}");
    }
}
