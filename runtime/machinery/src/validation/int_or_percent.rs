//! Amounts that are a number or a percentage, such as the number of pods that may be unavailable.

use planesmith_wire::int_or_string::IntOrString;
use planesmith_wire::names;

use crate::field_error::FieldErrors;
use crate::value::Value;

/// Reports a value that is neither a non-negative number nor a percentage.
pub fn check_int_or_percent(value: &IntOrString, field: &str, errors: &mut FieldErrors) {
    match value {
        IntOrString::Int(number @ ..0) => errors.invalid(field, *number, "must be greater than or equal to 0"),
        IntOrString::Int(_) => {}
        IntOrString::String(text) => {
            for complaint in names::percent(text) {
                errors.invalid(field, value as &dyn Value, complaint);
            }
        }
    }
}

/// Reports a percentage above 100.
pub fn check_at_most_100_percent(value: &IntOrString, field: &str, errors: &mut FieldErrors) {
    if value.percent().is_some_and(|percent| percent > 100) {
        errors.invalid(field, value as &dyn Value, "must not be greater than 100%");
    }
}
