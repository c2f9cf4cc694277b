//! Rules of schemas: expressions that must hold of objects.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::structural::Structural;
use serde_json::Value;

/// Reports the rules that do not hold of `document`, which replaces `old`.
pub(crate) fn check(_schema: &Structural, _document: &Value, _old: Option<&Value>, _errors: &mut FieldErrors) {}
