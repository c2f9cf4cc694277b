//! Validations and audit annotations of an admission policy.

use planesmith_expressions::Type;
use planesmith_expressions::policy::PolicyEnvironment;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::expression::has_line_breaks;

/// Legal values of `reason` in a validation.
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

/// Maximum length of an audit annotation's expression, in bytes.
const MAX_VALUE_EXPRESSION: usize = 5 * 1024;

/// A condition that an admission policy requires requests to fulfil.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Validation {
    /// CEL expression that must evaluate to true. Variables: object, oldObject, request, params, namespaceObject,
    /// variables and authorizer.
    #[field(proto = 1, keep)]
    pub expression: String,
    /// Message for the client when the validation fails; a single line. Required when the expression has line breaks.
    #[field(proto = 2)]
    pub message: String,
    /// Reason in the response: Forbidden, Invalid or RequestEntityTooLarge. Default: Invalid.
    #[field(proto = 3, go_type = "v1.StatusReason")]
    pub reason: Option<String>,
    /// CEL expression that evaluates to the message for the client. Takes precedence over message if it evaluates to a
    /// string.
    #[field(proto = 4)]
    pub message_expression: String,
}

/// An annotation that a policy adds to the audit event.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AuditAnnotation {
    /// Key of the annotation, appended to the name of the policy and a slash.
    #[field(proto = 1, keep)]
    pub key: String,
    /// CEL expression that evaluates to the value, a string, or to null for no annotation.
    #[field(proto = 2, keep)]
    pub value_expression: String,
}

impl Validation {
    /// Reports errors in the validation. Message expressions use the variables of `for_messages`, which has no
    /// authorizer.
    pub(super) fn check(
        &self,
        environment: &PolicyEnvironment,
        for_messages: &PolicyEnvironment,
        errors: &mut FieldErrors,
    ) {
        if self.expression.trim().is_empty() {
            errors.required("expression", "expression is not specified");
        } else if let Err(problem) = environment.compile(&self.expression, &[Type::Bool]) {
            problem.report(errors, "expression", &self.expression);
        }
        if !self.message_expression.trim().is_empty()
            && let Err(problem) = for_messages.compile(&self.message_expression, &[Type::String])
        {
            problem.report(errors, "messageExpression", &self.message_expression);
        }
        for (field, text) in [
            ("messageExpression", &self.message_expression),
            ("message", &self.message),
        ] {
            if !text.is_empty() && text.trim().is_empty() {
                errors.invalid(field, text, "must be non-empty if specified");
            }
        }
        if has_line_breaks(self.message.trim()) {
            errors.invalid("message", &self.message, "must not contain line breaks");
        }
        super::check_word("reason", self.reason.as_ref(), &REASONS, errors);
    }
}

impl AuditAnnotation {
    /// Reports errors in an annotation of the policy `policy`.
    pub(super) fn check(&self, policy: &str, environment: &PolicyEnvironment, errors: &mut FieldErrors) {
        if policy.is_empty() {
            errors.invalid("key", &self.key, "requires metadata.name be non-empty");
        } else {
            let key = format!("{policy}/{}", self.key);
            for complaint in names::qualified_name(&key) {
                errors.invalid("key", &key, complaint);
            }
        }
        let expression = self.value_expression.trim();
        if expression.is_empty() {
            errors.required("valueExpression", "valueExpression is not specified");
        } else if expression.len() > MAX_VALUE_EXPRESSION {
            let detail = format!("must not exceed {MAX_VALUE_EXPRESSION} bytes in length");
            errors.required("valueExpression", detail);
        } else if let Err(problem) = environment.compile(expression, &[Type::String, Type::Null]) {
            problem.report(errors, "valueExpression", &self.value_expression);
        }
    }
}
