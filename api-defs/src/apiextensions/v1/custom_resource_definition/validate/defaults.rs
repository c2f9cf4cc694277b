//! Defaults: values that the schema itself takes.

use std::sync::Arc;

use planesmith_machinery::field_error::{FieldError, FieldErrors};
use planesmith_machinery::json::to_value;
use planesmith_machinery::structural::{Malformed, Structural};

use serde_json::{Value, json};

use super::tolerance::Tolerance;
use crate::apiextensions::v1::JSONSchemaProps;

const UNKNOWN_FIELDS: &str = "must not have unknown fields";

/// Looks at the defaults of a structural schema.
pub(super) fn check(schema: &JSONSchemaProps, tolerance: &Tolerance, errors: &mut FieldErrors) {
    check_below(schema, true, false, tolerance, errors);
}

/// Whether a default has fields that its schema does not know.
pub(super) fn has_unknown_fields(schema: &JSONSchemaProps) -> bool {
    let mut errors = FieldErrors::default();
    check_below(schema, true, false, &Tolerance::NONE, &mut errors);
    let mut found = errors.as_slice().iter();
    found.any(|error| error.detail == UNKNOWN_FIELDS)
}

/// Checks a default as if it stood in an object.
fn check_value(schema: &Structural, value: &Value, errors: &mut FieldErrors) {
    let found = errors.count();
    if let Err(error) = schema.complete_embedded(&mut value.clone(), Malformed::Refused) {
        errors.report(*error);
        return;
    }
    schema.check_embedded(value, errors);
    if errors.count() > found {
        return;
    }
    let mut wrong = FieldErrors::default();
    schema.validate(value, "default", &mut wrong);
    for error in wrong.as_slice() {
        let below = error.field.strip_prefix("default").unwrap_or(&error.field);
        let field = below.trim_start_matches('.').to_owned();
        errors.report(FieldError { field, ..error.clone() });
    }
}

/// Whether a value has only fields that its schema knows.
fn fits(schema: &Structural, value: &Value) -> bool {
    let holder = Structural {
        properties: [("value".into(), Arc::new(schema.clone()))].into_iter().collect(),
        ..Structural::default()
    };
    let dropped = holder.prune(&mut json!({"value": value}));
    dropped.into_paths().is_empty()
}

fn check_below(
    schema: &JSONSchemaProps,
    is_object_of_api: bool,
    is_metadata: bool,
    tolerance: &Tolerance,
    errors: &mut FieldErrors,
) {
    let is_metadata = is_metadata && !schema.x_kubernetes_embedded_resource;
    if let Some(default) = schema.default.as_ref().filter(|_| !is_metadata) {
        let default = default.to_value();
        let structural = Structural::compile(&to_value(schema));
        if tolerance.pruned_defaults && !fits(&structural, &default) {
            errors.invalid("default", &default, UNKNOWN_FIELDS);
        }
        check_value(&structural, &default, &mut errors.at("default"));
    }
    // Defaults are forbidden below additionalProperties.
    if let Some(item) = schema.item() {
        check_below(item, false, is_metadata, tolerance, &mut errors.at("items"));
    }
    let holds_metadata = is_object_of_api || schema.x_kubernetes_embedded_resource;
    for (name, property) in &schema.properties {
        let is_meta = holds_metadata && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
        let mut errors = errors.at_key("properties", name);
        check_below(property, false, is_metadata || is_meta, tolerance, &mut errors);
    }
}
