//! Syntactic checks of validation rules.

use planesmith_machinery::field_error::FieldErrors;

use super::super::structural::unsupported;
use crate::apiextensions::v1::json_schema_path::{Notation, follow};
use crate::apiextensions::v1::{JSONSchemaProps, ValidationRule};

/// Legal reasons of a rule.
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

pub(super) fn check(schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    for (index, rule) in schema.x_kubernetes_validations.iter().enumerate() {
        check_rule(rule, schema, &mut errors.at_index("x-kubernetes-validations", index));
    }
}

fn check_rule(rule: &ValidationRule, schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    const BREAKS: &str = "must not contain line breaks";
    const EMPTY: &str = "must be non-empty if specified";
    let (expression, message) = (rule.rule.trim(), rule.message.trim());
    if expression.is_empty() {
        errors.required("rule", "rule is not specified");
    } else if !rule.message.is_empty() && message.is_empty() {
        errors.invalid("message", &rule.message, EMPTY);
    } else if has_breaks(message) {
        errors.invalid("message", &rule.message, BREAKS);
    } else if has_breaks(expression) && message.is_empty() {
        errors.required("message", "message must be specified if rule contains line breaks");
    }
    if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
        errors.required("messageExpression", "messageExpression must be non-empty if specified");
    }
    if let Some(reason) = rule.reason.as_deref().filter(|reason| !REASONS.contains(reason)) {
        errors.not_supported("reason", reason, &REASONS);
    }
    let path = rule.field_path.as_str();
    if path.is_empty() {
        return;
    }
    if path.trim().is_empty() {
        errors.invalid("fieldPath", path, EMPTY);
    }
    if has_breaks(path) {
        errors.invalid("fieldPath", path, BREAKS);
    }
    if unsupported(schema).is_none() && follow(path, schema, Notation::DotsAndBrackets).is_err() {
        errors.invalid("fieldPath", path, "must be a valid path");
    }
}

fn has_breaks(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
