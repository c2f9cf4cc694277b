//! Variables that expressions of a policy share.

use planesmith_expressions::is_identifier;
use planesmith_expressions::policy::PolicyEnvironment;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

/// A value that later expressions of the policy access as a field of `variables`.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct Variable {
    /// Name of the variable, a CEL identifier.
    #[field(proto = 1, keep)]
    pub name: String,
    /// CEL expression of the value. It can use everything that the policy's other expressions can, and the preceding
    /// variables.
    #[field(proto = 2, keep)]
    pub expression: String,
}

impl Variable {
    /// Reports errors in the variable and declares it for later expressions. A variable that does not compile is
    /// declared by name, so that one mistake is reported once.
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
            Ok(program) => environment.declare(&self.name, program.result_type()),
            Err(problem) => {
                problem.report(errors, "expression", &self.expression);
                environment.declare_unknown(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_expressions::policy::PolicyVariables;

    use super::*;

    #[test]
    fn a_value_derived_from_a_wrong_one_is_no_second_error() {
        let mut environment = PolicyEnvironment::new(PolicyVariables {
            variables: true,
            ..PolicyVariables::default()
        });
        let mut check = |name: &str, expression: &str| {
            let variable = Variable {
                name: name.to_owned(),
                expression: expression.to_owned(),
            };
            let mut errors = FieldErrors::default();
            variable.check(&mut environment, &mut errors);
            errors.count()
        };
        assert_eq!(check("wrong", "nothing"), 1);
        assert_eq!(check("right", "!variables.wrong && variables.wrong.size() > 2"), 0);
        assert_eq!(check("other", "variables.missing"), 1);
    }
}
