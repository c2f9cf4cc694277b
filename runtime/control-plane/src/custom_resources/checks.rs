//! What is checked of custom objects.

use planesmith_machinery::custom::{Checks, CustomObject};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::structural::Structural;

/// Checks objects by their schemas.
pub(super) struct SchemaChecks;

impl Checks for SchemaChecks {
    fn check(&self, _: &Structural, _: &CustomObject, _: &mut FieldErrors) {}

    fn check_update(&self, _: &Structural, _: &CustomObject, _: &CustomObject, _: &mut FieldErrors) {}
}
