//! Conditions on requests, in CEL.

use planesmith_api_defs::admissionregistration::v1::MatchCondition;
use planesmith_expressions::policy::{PolicyEnvironment, PolicyVariables};
use planesmith_expressions::{Evaluated, Fault, PER_CALL_LIMIT, Program, Type, Value};

/// The cost limit of all conditions of a webhook or a policy together.
const BUDGET: u64 = 2_500_000;

const OVER_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The compiled conditions of a webhook or a policy.
#[derive(Debug, Default)]
pub struct MatchConditions {
    conditions: Vec<Condition>,
}

#[derive(Debug)]
struct Condition {
    name: String,
    expression: String,
    program: Result<Program, String>,
}

/// The result of all conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// All conditions are true.
    Matches,
    /// The condition of this name is false. That counts even if others have failed.
    Excluded(String),
    /// No condition is false, and some could not be evaluated.
    Failed {
        /// The message about all of them.
        why: String,
        /// The number of conditions that failed.
        count: usize,
    },
}

impl MatchConditions {
    /// Compiles `conditions`, whose expressions can use `variables`. One that does not compile fails when it is evaluated.
    #[must_use]
    pub fn compile(conditions: &[MatchCondition], variables: PolicyVariables) -> Self {
        let environment = PolicyEnvironment::new(variables);
        let condition = |condition: &MatchCondition| Condition {
            name: condition.name.clone(),
            expression: condition.expression.clone(),
            program: environment.compile(condition.expression.trim(), &[Type::Bool]),
        };
        Self {
            conditions: conditions.iter().map(condition).collect(),
        }
    }

    /// True if there are no conditions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Evaluates the conditions with `variables`, by name.
    #[must_use]
    pub fn evaluate(&self, variables: &[(&str, Evaluated<'_>)]) -> Match {
        let mut left = BUDGET;
        let mut failures = Vec::new();
        let mut excluded = None;
        for condition in &self.conditions {
            let program = match &condition.program {
                Ok(program) => program,
                Err(why) => {
                    failures.push(format!("compilation error: {why}"));
                    continue;
                }
            };
            let evaluation = program.evaluate(variables, PER_CALL_LIMIT);
            match left.checked_sub(evaluation.cost) {
                Some(rest) => left = rest,
                None => {
                    return Match::Failed {
                        why: OVER_BUDGET.to_owned(),
                        count: 1,
                    };
                }
            }
            match evaluation.result {
                Ok(Value::Bool(true)) => {}
                Ok(Value::Bool(false)) => {
                    excluded.get_or_insert(&condition.name);
                }
                Ok(_) => failures.push(condition.failure(&Fault::Failed("no such overload".to_owned()))),
                Err(fault) => failures.push(condition.failure(&fault)),
            }
        }
        match (excluded, failures.len()) {
            (Some(name), _) => Match::Excluded(name.clone()),
            (None, 0) => Match::Matches,
            (None, count) => Match::Failed {
                why: joined(failures),
                count,
            },
        }
    }
}

impl Condition {
    fn failure(&self, fault: &Fault) -> String {
        format!(
            "expression '{}' resulted in error: {}",
            self.expression,
            fault.message()
        )
    }
}

/// Several messages in brackets, without repetitions.
fn joined(mut messages: Vec<String>) -> String {
    let mut seen = Vec::new();
    messages.retain(|message| {
        let is_new = !seen.contains(message);
        seen.push(message.clone());
        is_new
    });
    match messages.as_slice() {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn evaluate(expressions: &[&str]) -> Match {
        let condition = |(index, expression): (usize, &&str)| MatchCondition {
            name: format!("c{index}"),
            expression: (*expression).to_owned(),
        };
        let conditions: Vec<MatchCondition> = expressions.iter().enumerate().map(condition).collect();
        let conditions = MatchConditions::compile(&conditions, PolicyVariables::default());
        let object = json!({"spec": {"replicas": 3}});
        conditions.evaluate(&[("object", Ok(Value::of_document(&object)))])
    }

    #[test]
    fn a_false_condition_excludes_even_if_others_fail() {
        assert_eq!(evaluate(&["true", "object.spec.replicas == 3"]), Match::Matches);
        assert_eq!(
            evaluate(&["object.none == 1", "object.spec.replicas > 3"]),
            Match::Excluded("c1".to_owned())
        );
    }

    #[test]
    fn failures_are_told_together() {
        let why = "expression 'object.none == 1' resulted in error: no such key: none";
        let failed = |why: String, count| Match::Failed { why, count };
        assert_eq!(evaluate(&["object.none == 1", "true"]), failed(why.to_owned(), 1));
        let other = "expression 'object.other == 1' resulted in error: no such key: other";
        assert_eq!(
            evaluate(&["object.none == 1", "object.other == 1"]),
            failed(format!("[{why}, {other}]"), 2)
        );
    }
}
