//! Validation of custom objects.

mod scale;

use std::sync::OnceLock;

use planesmith_dynamic::custom::{Checks, CustomObject};
use planesmith_dynamic::structural::Structural;
use planesmith_expressions::rules::Rules;
use planesmith_machinery::field_error::{FieldError, FieldErrorKind, FieldErrors};
use planesmith_machinery::object::Object as _;
use serde_json::Value;

/// The error that replaces the results of rules that were not evaluated.
const RULES_NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/// Validates objects by their schemas, in this order: values, scales, embedded objects, keyed lists and rules.
#[derive(Debug, Default)]
pub struct SchemaChecks {
    /// The rules, compiled when the first object is checked: each instance belongs to one schema.
    rules: OnceLock<Rules>,
    /// See [`Structural::pattern_size`]; computed with the first object, too.
    pattern_size: OnceLock<usize>,
}

/// The cost of checking the first object, in nanoseconds; it includes compiling patterns and rules.
const FIRST: u64 = 50_000_000;

/// Nanoseconds per unit of rule cost.
const PER_UNIT: u64 = 50;

/// Pattern bytes per nanosecond of matching one byte of text. Automata with the maximum number of states would be ten times
/// slower, but hardly any text reaches that.
const PATTERN_PER_NANO: usize = 64;

impl Checks for SchemaChecks {
    fn check(&self, schema: &Structural, object: &CustomObject, errors: &mut FieldErrors) {
        self.note_patterns(schema);
        let document = object.to_document();
        schema.validate(&document, "", errors);
        scale::check(object.resource(), &document, errors);
        schema.check_embedded(&document, errors);
        schema.check_lists(&document, errors);
        self.check_rules(schema, &document, None, errors);
    }

    fn check_update(&self, schema: &Structural, object: &CustomObject, old: &CustomObject, errors: &mut FieldErrors) {
        self.note_patterns(schema);
        let (document, old) = (object.to_document(), old.to_document());
        schema.validate_update(&document, &old, "", errors);
        scale::check(object.resource(), &document, errors);
        schema.check_embedded(&document, errors);
        check_lists_again(schema, &document, &old, errors);
        self.check_rules(schema, &document, Some(&old), errors);
    }

    fn check_status(&self, schema: &Structural, object: &CustomObject, old: &CustomObject, errors: &mut FieldErrors) {
        self.note_patterns(schema);
        let (document, old) = (object.to_document(), old.to_document());
        if let (Some(status), Some(schema)) = (document.get("status"), schema.properties.get("status")) {
            match old.get("status") {
                Some(old) => schema.validate_update(status, old, "status", errors),
                None => schema.validate(status, "status", errors),
            }
        }
        scale::check_status(object.resource(), &document, errors);
        check_lists_again(schema, &document, &old, errors);
        self.check_rules(schema, &document, Some(&old), errors);
    }

    fn cost(&self, schema: &Structural, bytes: usize) -> u64 {
        let Some(patterns) = self.pattern_size.get() else {
            return FIRST;
        };
        let rules = match (schema.has_rules, self.rules.get()) {
            (false, _) => 0,
            (true, None) => return FIRST,
            (true, Some(rules)) => rules.max_cost(bytes).saturating_mul(PER_UNIT),
        };
        let patterns = (patterns / PATTERN_PER_NANO).saturating_mul(bytes);
        rules.saturating_add(patterns as u64)
    }
}

impl SchemaChecks {
    fn note_patterns(&self, schema: &Structural) {
        self.pattern_size.get_or_init(|| schema.pattern_size());
    }

    /// Evaluates rules if the object is well-formed enough for them.
    fn check_rules(&self, schema: &Structural, document: &Value, old: Option<&Value>, errors: &mut FieldErrors) {
        if !schema.has_rules {
            return;
        }
        if errors.as_slice().iter().any(hinders_rules) {
            errors.report(FieldError {
                field: "<nil>".to_owned(),
                kind: FieldErrorKind::Invalid,
                value: "null".to_owned(),
                detail: RULES_NOT_CHECKED.to_owned(),
            });
        } else {
            let rules = self.rules.get_or_init(|| Rules::compile(schema));
            rules.check(schema, document, old, errors);
        }
    }
}

/// Checks keyed lists, unless those of the old object were invalid already.
fn check_lists_again(schema: &Structural, document: &Value, old: &Value, errors: &mut FieldErrors) {
    let mut before = FieldErrors::default();
    schema.check_lists(old, &mut before);
    if before.is_empty() {
        schema.check_lists(document, errors);
    }
}

fn hinders_rules(error: &FieldError) -> bool {
    matches!(
        error.kind,
        FieldErrorKind::NotSupported
            | FieldErrorKind::Required
            | FieldErrorKind::TooLong
            | FieldErrorKind::TooMany
            | FieldErrorKind::TypeInvalid
    )
}

#[cfg(test)]
mod tests;
