//! Match conditions of policies and webhooks.

use planesmith_machinery::go_format;

use super::activation::{Activation, Declarations, Inputs, OUT_OF_BUDGET, Stop, Suspended};
use super::{Expression, PolicyEnvironment};
use crate::types::Type;
use crate::value::Value;

/// The cost limit of all match conditions of a policy or webhook.
const BUDGET: u64 = 2_500_000;

/// The match conditions of a policy or webhook, compiled.
#[derive(Debug, Default)]
pub struct Conditions {
    conditions: Vec<(String, Expression)>,
    declarations: Declarations,
}

/// The result of match conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matching {
    /// All conditions are true.
    All,
    /// The condition of this name is false; errors of others do not matter.
    Except(String),
    /// No condition is false, but some could not be evaluated.
    Failed {
        /// The errors, as kube-apiserver words them.
        message: String,
        /// The number of conditions that could not be evaluated.
        errors: usize,
    },
}

impl Conditions {
    /// Compiles conditions, each with its name and expression.
    #[must_use]
    pub fn new(conditions: &[(&str, &str)], environment: &PolicyEnvironment) -> Self {
        let conditions = conditions.iter().map(|(name, text)| {
            let expression = Expression::new(text, environment, &[Type::Bool]);
            ((*name).to_owned(), expression)
        });
        Self {
            conditions: conditions.collect(),
            declarations: Declarations::default(),
        }
    }

    /// True if there are no conditions: every request matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Evaluates the conditions. They see no Namespace object.
    ///
    /// # Errors
    ///
    /// The authorizer has to decide first.
    pub fn evaluate(&self, inputs: &Inputs<'_>) -> Result<Matching, Suspended> {
        self.evaluate_with(inputs, &self.declarations)
    }

    /// Like [`Self::evaluate`], with variables that the policy declares.
    pub(super) fn evaluate_with(
        &self,
        inputs: &Inputs<'_>,
        declarations: &Declarations,
    ) -> Result<Matching, Suspended> {
        if self.conditions.is_empty() {
            return Ok(Matching::All);
        }
        let inputs = Inputs {
            namespace: &serde_json::Value::Null,
            ..*inputs
        };
        let activation = Activation::new(&inputs, declarations, true);
        let mut budget = BUDGET;
        let mut results = Vec::with_capacity(self.conditions.len());
        for (name, expression) in &self.conditions {
            match activation.evaluate(expression, &mut budget) {
                Ok(result) => results.push((name, result)),
                Err(Stop::Suspended) => return Err(Suspended),
                Err(Stop::OutOfBudget) => {
                    return Ok(Matching::Failed {
                        message: OUT_OF_BUDGET.to_owned(),
                        errors: 0,
                    });
                }
            }
        }
        let unmet = results
            .iter()
            .find(|(_, result)| matches!(result, Ok(Value::Bool(false))));
        if let Some((name, _)) = unmet {
            return Ok(Matching::Except((*name).clone()));
        }
        let problems: Vec<String> = results.into_iter().filter_map(|(_, result)| result.err()).collect();
        Ok(match problems.is_empty() {
            true => Matching::All,
            false => Matching::Failed {
                errors: problems.len(),
                message: go_format::aggregate(&problems),
            },
        })
    }
}
