//! References by group, kind and name.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

/// Reports errors in a reference to an object.
pub(super) fn check_group_kind_name(group: Option<&str>, kind: &str, name: &str, errors: &mut FieldErrors) {
    if let Some(group) = group {
        for complaint in names::dns_subdomain(group) {
            errors.invalid("apiGroup", group, complaint);
        }
    }
    check_path_segment("kind", kind, errors);
    check_path_segment("name", name, errors);
}

/// Reports a name that is empty or no legal path segment.
pub(super) fn check_path_segment(field: &str, name: &str, errors: &mut FieldErrors) {
    if name.is_empty() {
        errors.required(field, "");
    }
    for complaint in names::path_segment(name) {
        errors.invalid(field, name, complaint);
    }
}
