//! Validation of selectable fields.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;

use super::super::structural::unsupported;
use crate::apiextensions::v1::json_schema_path::{Notation, follow};
use crate::apiextensions::v1::{JSONSchemaProps, SelectableField};

/// Maximum number of selectable fields of a version.
pub(super) const MAX: u64 = 8;

pub(super) fn check(
    fields: &[SelectableField],
    schema: Option<&JSONSchemaProps>,
    lets_many: bool,
    errors: &mut FieldErrors,
) {
    if let Some(problem) = schema.and_then(unsupported) {
        errors.invalid("schema.openAPIV3Schema", "", problem);
        return;
    }
    let empty = JSONSchemaProps::default();
    let schema = schema.unwrap_or(&empty);
    let mut seen = BTreeSet::new();
    for (index, field) in fields.iter().enumerate() {
        let mut errors = errors.at_index("selectableFields", index);
        let path = field.json_path.as_str();
        if path.is_empty() {
            errors.required("jsonPath", "");
            continue;
        }
        let (names, found) = match follow(path, schema, Notation::Dots) {
            Ok(followed) => followed,
            Err(problem) => {
                errors.invalid("jsonPath", path, format!("is an invalid path: {problem}"));
                continue;
            }
        };
        if names.first().is_some_and(|name| name == "metadata") {
            errors.invalid("jsonPath", path, "must not point to fields in metadata");
        }
        if !found.is_some_and(|schema| matches!(schema.type_.as_str(), "string" | "boolean" | "integer")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                          formats are allowed.";
            errors.invalid("jsonPath", path, detail);
        }
        if !seen.insert(names.join(".")) {
            errors.duplicate("jsonPath", path);
        }
    }
    if seen.len() as u64 > MAX && !lets_many {
        errors.too_many("selectableFields", seen.len(), MAX);
    }
}
