//! Validating admission policies: compilation and evaluation.

use std::time::{Duration, Instant};

use super::activation::{Activation, Declarations, OUT_OF_BUDGET, Stop};
use super::{Conditions, Expression, Inputs, Matching, PolicyEnvironment, PolicySource, PolicyVariables, Suspended};
use crate::types::Type;
use crate::value::Value;

/// The cost limit of the validations of a policy with one parameter object; their messages use what remains. Audit annotations
/// have the same limit for themselves.
const BUDGET: u64 = 10_000_000;

/// The maximum length of an evaluated message, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// A validation as it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Validation<'s> {
    /// The expression that must be true.
    pub expression: &'s str,
    /// The message; empty for the default.
    pub message: &'s str,
    /// The expression of the message; empty for none.
    pub message_expression: &'s str,
    /// The reason; `None` for the default.
    pub reason: Option<&'s str>,
}

/// A compiled policy.
#[derive(Debug)]
pub struct ValidatingPolicy {
    declarations: Declarations,
    conditions: Conditions,
    validations: Vec<CompiledValidation>,
    /// Keys and value expressions.
    annotations: Vec<(String, Expression)>,
}

#[derive(Debug)]
struct CompiledValidation {
    expression: Expression,
    message: String,
    message_expression: Option<Expression>,
    reason: Option<String>,
}

/// The outcome of one validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The expression is true.
    Admitted,
    /// The expression is false.
    Denied,
    /// The expression could not be evaluated; the failure policy decides.
    Failed,
}

/// The decision of one validation.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The outcome.
    pub outcome: Outcome,
    /// The message for the client; empty for an admitted request.
    pub message: String,
    /// The reason of the policy; `None` for the default.
    pub reason: Option<String>,
    /// The duration of the evaluation.
    pub elapsed: Duration,
}

/// The result of one audit annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationResult {
    /// Adds the key and value.
    Publish(String, String),
    /// The value could not be evaluated; the failure policy decides.
    Failed(String),
}

/// The results of a policy.
#[derive(Clone, Debug, Default)]
pub struct Validated {
    /// The decision of each validation, in order, or a single one about the whole policy.
    pub decisions: Vec<Decision>,
    /// The audit annotations, without those that have no value.
    pub annotations: Vec<AnnotationResult>,
    /// The number of match conditions that could not be evaluated.
    pub condition_errors: usize,
}

impl ValidatingPolicy {
    /// Compiles a policy. `annotations` are keys and value expressions.
    #[must_use]
    pub fn new(source: &PolicySource<'_>, validations: &[Validation<'_>], annotations: &[(&str, &str)]) -> Self {
        let environment = |authorizer| {
            PolicyEnvironment::new(PolicyVariables {
                params: source.has_params,
                authorizer,
                variables: true,
            })
        };
        let mut with_authorizer = environment(true);
        let mut for_messages = environment(false);
        let declarations = Declarations::new(&source.variables, &mut with_authorizer);
        for_messages.share_variables(&with_authorizer);
        let validations = validations.iter().map(|validation| CompiledValidation {
            expression: Expression::new(validation.expression, &with_authorizer, &[Type::Bool]),
            message: validation.message.to_owned(),
            message_expression: (!validation.message_expression.is_empty())
                .then(|| Expression::new(validation.message_expression, &for_messages, &[Type::String])),
            reason: validation.reason.map(str::to_owned),
        });
        let annotations = annotations.iter().map(|(key, text)| {
            let expression = Expression::new(text, &with_authorizer, &[Type::String, Type::Null]);
            ((*key).to_owned(), expression)
        });
        Self {
            validations: validations.collect(),
            annotations: annotations.collect(),
            conditions: Conditions::new(&source.conditions, &with_authorizer),
            declarations,
        }
    }

    /// Evaluates the policy. `ignores_failures` is the failure policy: with it, match conditions that fail exclude the request.
    ///
    /// # Errors
    ///
    /// The authorizer has to decide first.
    pub fn validate(&self, inputs: &Inputs<'_>, ignores_failures: bool) -> Result<Validated, Suspended> {
        let mut condition_errors = 0;
        match self.conditions.evaluate_with(inputs, &self.declarations)? {
            Matching::All => {}
            Matching::Except(_) => return Ok(Validated::default()),
            Matching::Failed { message, errors } => {
                condition_errors = errors;
                return Ok(match ignores_failures {
                    true => Validated {
                        condition_errors,
                        ..Validated::default()
                    },
                    false => Validated {
                        condition_errors,
                        ..Validated::failed(&message)
                    },
                });
            }
        }
        let decisions = match self.decisions(inputs) {
            Ok(decisions) => decisions,
            Err(Stop::Suspended) => return Err(Suspended),
            Err(Stop::OutOfBudget) => return Ok(Validated::failed(OUT_OF_BUDGET)),
        };
        let annotations = match self.annotations(inputs) {
            Ok(annotations) => annotations,
            Err(Stop::Suspended) => return Err(Suspended),
            Err(Stop::OutOfBudget) => return Ok(Validated::failed(OUT_OF_BUDGET)),
        };
        Ok(Validated {
            decisions,
            annotations,
            condition_errors,
        })
    }

    fn decisions(&self, inputs: &Inputs<'_>) -> Result<Vec<Decision>, Stop> {
        let mut budget = BUDGET;
        let activation = Activation::new(inputs, &self.declarations, true);
        let mut results = Vec::with_capacity(self.validations.len());
        for validation in &self.validations {
            let begin = Instant::now();
            let result = activation.evaluate(&validation.expression, &mut budget)?;
            results.push((validation, result, begin.elapsed()));
        }
        let messages = self.messages(inputs, &results, budget);
        if messages == Err(Stop::Suspended) {
            return Err(Stop::Suspended);
        }
        let decisions = results.into_iter().enumerate();
        let decisions = decisions.map(|(index, (validation, result, elapsed))| {
            let (outcome, message) = match (result, &messages) {
                (Err(why), _) => (Outcome::Failed, why),
                (_, Err(_)) => (Outcome::Failed, format!("failed messageExpression: {OUT_OF_BUDGET}")),
                (Ok(Value::Bool(true)), _) => (Outcome::Admitted, String::new()),
                (_, Ok(messages)) => {
                    let evaluated = messages.get(index).and_then(Option::as_deref);
                    (Outcome::Denied, validation.message(evaluated))
                }
            };
            let reason = match outcome {
                Outcome::Denied => validation.reason.clone(),
                Outcome::Admitted | Outcome::Failed => None,
            };
            Decision {
                outcome,
                message,
                reason,
                elapsed,
            }
        });
        Ok(decisions.collect())
    }

    /// Evaluates all message expressions, if a validation that is false needs one.
    fn messages<'d>(
        &'d self,
        inputs: &Inputs<'d>,
        results: &[(&CompiledValidation, Result<Value<'_>, String>, Duration)],
        mut budget: u64,
    ) -> Result<Vec<Option<String>>, Stop> {
        if self
            .validations
            .iter()
            .all(|validation| validation.message_expression.is_none())
            || !results.iter().any(|(_, result, _)| is_denial(result))
        {
            return Ok(Vec::new());
        }
        let activation = Activation::new(inputs, &self.declarations, false);
        let mut messages = Vec::with_capacity(self.validations.len());
        for validation in &self.validations {
            messages.push(match &validation.message_expression {
                None => None,
                Some(expression) => match activation.evaluate(expression, &mut budget)? {
                    Ok(Value::String(text)) => Some(text.to_string()),
                    // The message falls back to the written one.
                    Ok(_) | Err(_) => None,
                },
            });
        }
        Ok(messages)
    }

    fn annotations(&self, inputs: &Inputs<'_>) -> Result<Vec<AnnotationResult>, Stop> {
        if self.annotations.is_empty() {
            return Ok(Vec::new());
        }
        let mut budget = BUDGET;
        let activation = Activation::new(inputs, &self.declarations, false);
        let mut results = Vec::new();
        for (key, expression) in &self.annotations {
            match activation.evaluate(expression, &mut budget)? {
                Ok(Value::String(text)) if text.trim().is_empty() => {}
                Ok(Value::String(text)) => {
                    results.push(AnnotationResult::Publish(key.clone(), text.trim().to_owned()));
                }
                Ok(Value::Null) => {}
                Ok(other) => results.push(AnnotationResult::Failed(format!(
                    "valueExpression '{}' resulted in unsupported return type: {}. Return type must be either string or null.",
                    expression.text(),
                    other.type_name()
                ))),
                Err(why) => results.push(AnnotationResult::Failed(why)),
            }
        }
        Ok(results)
    }
}

/// True if an expression is false.
fn is_denial(result: &Result<Value<'_>, String>) -> bool {
    !matches!(result, Err(_) | Ok(Value::Bool(true)))
}

impl Validated {
    /// A policy that could not be evaluated.
    fn failed(message: &str) -> Self {
        Self {
            decisions: vec![Decision {
                outcome: Outcome::Failed,
                message: message.to_owned(),
                reason: None,
                elapsed: Duration::ZERO,
            }],
            ..Self::default()
        }
    }
}

impl CompiledValidation {
    /// Returns the message of a denial: the evaluated one if it is a single line that is not too long, the written one, or the
    /// expression.
    fn message(&self, evaluated: Option<&str>) -> String {
        let evaluated = evaluated.unwrap_or_default().trim();
        if !evaluated.is_empty() && evaluated.len() <= MAX_MESSAGE && !evaluated.contains('\n') {
            return evaluated.to_owned();
        }
        match self.message.trim() {
            "" => format!("failed expression: {}", self.expression.text().trim()),
            message => message.to_owned(),
        }
    }
}
