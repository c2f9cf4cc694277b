//! Validation of the fields that the scale subresource exposes.

use planesmith_dynamic::unstructured::{nested_integer, nested_text};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::resource::{ResourceFacts, ScaleFacts, SubresourceKind};
use serde_json::Value;

/// Reports values that the scale subresource cannot represent.
pub(super) fn check(kind: &ResourceFacts, document: &Value, errors: &mut FieldErrors) {
    if let Some(scale) = scale_of(kind) {
        check_replicas(document, &scale.spec_replicas, errors);
        check_view(scale, document, errors);
    }
}

/// Reports values in the status that the scale subresource cannot represent.
pub(super) fn check_status(kind: &ResourceFacts, document: &Value, errors: &mut FieldErrors) {
    if let Some(scale) = scale_of(kind) {
        check_view(scale, document, errors);
    }
}

fn scale_of(kind: &ResourceFacts) -> Option<&ScaleFacts> {
    kind.subresources
        .iter()
        .find_map(|subresource| match &subresource.kind {
            SubresourceKind::Scale(scale) => Some(scale),
            _ => None,
        })
}

fn check_view(scale: &ScaleFacts, document: &Value, errors: &mut FieldErrors) {
    check_replicas(document, &scale.status_replicas, errors);
    if !scale.selector.is_empty()
        && let Err(problem) = nested_text(document, &scale.selector)
    {
        errors.invalid(&format!(".{}", scale.selector), "", problem);
    }
}

fn check_replicas(document: &Value, path: &str, errors: &mut FieldErrors) {
    let (replicas, problem) = match nested_integer(document, path) {
        Err(problem) => (0, problem),
        Ok(None) => return,
        Ok(Some(replicas)) if replicas < 0 => (replicas, "should be a non-negative integer".to_owned()),
        Ok(Some(replicas)) if replicas > i64::from(i32::MAX) => {
            (replicas, format!("should be less than or equal to {}", i32::MAX))
        }
        Ok(Some(_)) => return,
    };
    errors.invalid(&format!(".{path}"), replicas, problem);
}
