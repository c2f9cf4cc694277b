//! The fields of an object that its scale shows.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format;
use planesmith_machinery::resource::{ResourceFacts, ScaleFacts, SubresourceKind};
use serde_json::Value;

/// Reports fields that the scale of the kind could not show.
pub(super) fn check(kind: &ResourceFacts, document: &Value, errors: &mut FieldErrors) {
    if let Some(scale) = scale_of(kind) {
        check_replicas(document, scale.spec_replicas, errors);
        check_shown(scale, document, errors);
    }
}

/// Reports fields of the status that the scale of the kind could not show.
pub(super) fn check_status(kind: &ResourceFacts, document: &Value, errors: &mut FieldErrors) {
    if let Some(scale) = scale_of(kind) {
        check_shown(scale, document, errors);
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

fn check_shown(scale: &ScaleFacts, document: &Value, errors: &mut FieldErrors) {
    check_replicas(document, scale.status_replicas, errors);
    if scale.selector.is_empty() {
        return;
    }
    let problem = match find(document, scale.selector) {
        Err(problem) => problem,
        Ok(None | Some(Value::String(_))) => return,
        Ok(Some(other)) => wrong_type(scale.selector, other, "string"),
    };
    errors.invalid(&format!(".{}", scale.selector), "", problem);
}

fn check_replicas(document: &Value, path: &str, errors: &mut FieldErrors) {
    let (replicas, problem) = match find(document, path) {
        Err(problem) => (0, problem),
        Ok(None) => return,
        Ok(Some(value)) => match value.as_i64() {
            None => (0, wrong_type(path, value, "int64")),
            Some(replicas) if replicas < 0 => (replicas, "should be a non-negative integer".to_owned()),
            Some(replicas) if replicas > i64::from(i32::MAX) => {
                (replicas, format!("should be less than or equal to {}", i32::MAX))
            }
            Some(_) => return,
        },
    };
    errors.invalid(&format!(".{path}"), replicas, problem);
}

/// The value at a path; an error if something on the way is no object.
fn find<'d>(document: &'d Value, path: &str) -> Result<Option<&'d Value>, String> {
    let mut value = document;
    let mut end = 0;
    for name in path.split('.') {
        end += name.len() + usize::from(end > 0);
        match value {
            Value::Object(entries) => match entries.get(name) {
                None => return Ok(None),
                Some(inner) => value = inner,
            },
            Value::Null => return Ok(None),
            _ => {
                return Err(wrong_type(
                    path.get(..end).unwrap_or(path),
                    value,
                    "map[string]interface{}",
                ));
            }
        }
    }
    Ok(Some(value))
}

fn wrong_type(path: &str, value: &Value, expected: &str) -> String {
    let actual = go_format::type_of(value);
    let shown = go_format::value(value);
    format!(".{path} accessor error: {shown} is of the type {actual}, expected {expected}")
}
