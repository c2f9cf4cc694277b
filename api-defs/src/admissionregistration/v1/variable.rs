//! Values that expressions of a policy share.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

use super::expression::is_identifier;

/// A value that later expressions of the policy know as `variables` and its name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct Variable {
    /// The name, as identifiers of CEL are.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The value, in CEL.
    #[field(proto = 2, keep)]
    pub expression: String,
}

impl Variable {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.name.trim().is_empty() {
            errors.required("name", "name is not specified");
        } else if !is_identifier(&self.name) {
            errors.invalid("name", &self.name, "must be a valid CEL identifier");
        }
        if self.expression.trim().is_empty() {
            errors.required("expression", "expression is not specified");
        }
    }
}
