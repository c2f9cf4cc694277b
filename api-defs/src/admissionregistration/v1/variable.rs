//! Values that expressions of a policy share.

use planesmith_expressions::is_identifier;
use planesmith_expressions::policy::PolicyEnvironment;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

/// A value that later expressions of the policy know as `variables` and its name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct Variable {
    /// The name, as identifiers of CEL are.
    #[field(proto = 1, keep)]
    pub name: String,
    /// CEL expression that gives the value. It can use everything that the policy's other expressions can, and the
    /// variables before it.
    #[field(proto = 2, keep)]
    pub expression: String,
}

impl Variable {
    /// Reports what is wrong with the value, and lets later expressions know it.
    pub(super) fn check(&self, environment: &mut PolicyEnvironment, errors: &mut FieldErrors) {
        if self.name.trim().is_empty() {
            errors.required("name", "name is not specified");
        } else if !is_identifier(&self.name) {
            errors.invalid("name", &self.name, "must be a valid CEL identifier");
        }
        if self.expression.trim().is_empty() {
            errors.required("expression", "expression is not specified");
            return;
        }
        match environment.compile(&self.expression, &[]) {
            Ok(program) => environment.declare(&self.name, program.result_type().clone()),
            Err(problem) => errors.invalid("expression", &self.expression, problem),
        }
    }
}
