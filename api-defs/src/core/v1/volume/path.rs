//! Paths that must stay within a directory.

use planesmith_machinery::field_error::FieldErrors;

/// True if `path` contains a `..` element.
pub(crate) fn steps_back(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// Reports a path that contains a `..` element.
pub(crate) fn check_no_steps_back(field: &str, path: &str, errors: &mut FieldErrors) {
    if steps_back(path) {
        errors.invalid(field, path, "must not contain '..'");
    }
}

/// Reports a path that is absolute or contains a `..` element.
pub(crate) fn check_descending(field: &str, path: &str, errors: &mut FieldErrors) {
    if path.starts_with('/') {
        errors.invalid(field, path, "must be a relative path");
    }
    check_no_steps_back(field, path, errors);
}

/// Reports like `check_descending`, and also names that start with two dots, which are reserved for atomic updates of
/// volumes.
pub(crate) fn check_unreserved(field: &str, path: &str, errors: &mut FieldErrors) {
    check_descending(field, path, errors);
    if path.starts_with("..") && !path.starts_with("../") {
        errors.invalid(field, path, "must not start with '..'");
    }
}

/// Reports bits that are not part of a file mode.
pub(super) fn check_mode(field: &str, mode: Option<i32>, errors: &mut FieldErrors) {
    if let Some(mode) = mode
        && !(0..=0o777).contains(&mode)
    {
        errors.invalid(
            field,
            mode,
            "must be a number between 0 and 0777 (octal), both inclusive",
        );
    }
}
