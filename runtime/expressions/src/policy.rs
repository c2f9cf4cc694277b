//! Expressions of admission policies and webhooks.
//!
//! Reading order: [`PolicyEnvironment`] (the names and types in scope) compiles an [`Expression`]; an `Activation` has the values
//! of one request ([`Inputs`]) and counts costs; [`Conditions`] decide if a policy or webhook applies; [`ValidatingPolicy`] and
//! [`MutatingPolicy`] are the compiled policies; [`TypeCheck`] finds type errors
//! in them. Limits, costs and messages are those of kube-apiserver.

mod activation;
mod conditions;
mod document;
mod environment;
mod expression;
mod mutating;
mod type_check;
mod validating;

pub use activation::{Inputs, Suspended};
pub use conditions::{Conditions, Matching};
pub use environment::{CompileError, PolicyEnvironment, PolicyVariables};
pub use expression::Expression;
pub use mutating::{Changes, Failure, MutatingPolicy, Mutation, Operation};
pub use type_check::{ObjectType, TypeCheck};
pub use validating::{AnnotationResult, Decision, Outcome, Validated, ValidatingPolicy, Validation};

/// The parts that validating and mutating policies have in common, as they are written.
#[derive(Clone, Debug, Default)]
pub struct PolicySource<'s> {
    /// True if the policy has parameters.
    pub has_params: bool,
    /// The variables, each with its name and expression.
    pub variables: Vec<(&'s str, &'s str)>,
    /// The match conditions, each with its name and expression.
    pub conditions: Vec<(&'s str, &'s str)>,
}

#[cfg(test)]
mod tests;
