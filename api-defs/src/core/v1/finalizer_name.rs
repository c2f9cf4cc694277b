//! Legal names of finalizers.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

/// Finalizers without a domain prefix.
const STANDARD: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Reports errors in the finalizer `name` at `field`.
pub(super) fn check_finalizer(errors: &mut FieldErrors, field: &str, name: &str) {
    for problem in names::qualified_name(name) {
        errors.invalid(field, name, problem);
    }
    if !name.contains('/') && !STANDARD.contains(&name) {
        errors.invalid(
            field,
            name,
            "name is neither a standard finalizer name nor is it fully qualified",
        );
    }
}
