//! Match conditions of policies and webhooks.

use std::collections::BTreeSet;

use planesmith_expressions::Type;
use planesmith_expressions::policy::PolicyEnvironment;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

/// Maximum number of conditions.
const MAX: usize = 64;

/// A condition on requests, in addition to the rules.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MatchCondition {
    /// The name of the condition, unique in its list.
    #[field(proto = 1, keep)]
    pub name: String,
    /// CEL expression that evaluates to true or false. Variables: object, oldObject, request and authorizer.
    #[field(proto = 2, keep)]
    pub expression: String,
}

/// Reports errors in the list `field` of conditions, whose expressions can use the variables of `environment`.
pub(super) fn check(
    field: &str,
    conditions: &[MatchCondition],
    environment: &PolicyEnvironment,
    errors: &mut FieldErrors,
) {
    if conditions.len() > MAX {
        errors.too_many(field, conditions.len(), MAX as u64);
    }
    let mut names = BTreeSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let errors = &mut *errors.at_index(field, index);
        condition.check(environment, errors);
        if !condition.name.is_empty() && !names.insert(&condition.name) {
            errors.duplicate("name", &condition.name);
        }
    }
}

impl MatchCondition {
    fn check(&self, environment: &PolicyEnvironment, errors: &mut FieldErrors) {
        let expression = self.expression.trim();
        if expression.is_empty() {
            errors.required("expression", "");
        } else if let Err(problem) = environment.compile(expression, &[Type::Bool]) {
            problem.report(errors, "expression", expression);
        }
        if self.name.is_empty() {
            errors.required("name", "");
        } else {
            for complaint in names::qualified_name(&self.name) {
                errors.invalid("name", &self.name, complaint);
            }
        }
    }
}
