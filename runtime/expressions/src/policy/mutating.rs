//! Mutating admission policies: compilation and evaluation. The changes are applied by the caller.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::activation::{Activation, Declarations, OUT_OF_BUDGET, Stop};
use super::{Conditions, Expression, Inputs, Matching, PolicyEnvironment, PolicySource, PolicyVariables, Suspended};
use crate::types::{ANY_OBJECT, JSON_PATCH, Type};
use crate::value::Value;

/// The cost limit of one mutation.
const BUDGET: u64 = 10_000_000;

/// A mutation as it is written: the expression of its changes.
#[derive(Clone, Copy, Debug)]
pub enum Mutation<'s> {
    /// Fields to merge into the object.
    ApplyConfiguration(&'s str),
    /// Operations of a JSON patch.
    JsonPatch(&'s str),
}

/// A compiled policy.
#[derive(Debug)]
pub struct MutatingPolicy {
    declarations: Declarations,
    conditions: Conditions,
    mutations: Vec<CompiledMutation>,
}

#[derive(Debug)]
enum CompiledMutation {
    ApplyConfiguration(Expression),
    JsonPatch(Expression),
}

/// The changes that a mutation makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Changes {
    /// Fields to merge into the object.
    Merge(Json),
    /// Operations to apply in order.
    Patch(Vec<Operation>),
}

/// An operation of a JSON patch.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The kind of the operation, such as `add`.
    pub op: String,
    /// The path of the target.
    pub path: String,
    /// The path of the source; empty for none.
    pub from: String,
    /// The value; `None` if it is not set.
    pub value: Option<Json>,
}

/// The reason why a mutation has no changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The authorizer has to decide first.
    Suspended,
    /// The expression cannot be evaluated.
    Failed(String),
}

impl MutatingPolicy {
    /// Compiles a policy.
    #[must_use]
    pub fn new(source: &PolicySource<'_>, mutations: &[Mutation<'_>]) -> Self {
        let mut environment = PolicyEnvironment::new(PolicyVariables {
            params: source.has_params,
            authorizer: true,
            variables: true,
        });
        let declarations = Declarations::new(&source.variables, &mut environment);
        let conditions = Conditions::new(&source.conditions, &environment);
        environment.allow_objects();
        let object = |name: &str| Type::object(name, BTreeMap::new());
        let mutations = mutations.iter().map(|mutation| match mutation {
            Mutation::ApplyConfiguration(text) => {
                CompiledMutation::ApplyConfiguration(Expression::new(text, &environment, &[object(ANY_OBJECT)]))
            }
            Mutation::JsonPatch(text) => {
                CompiledMutation::JsonPatch(Expression::new(text, &environment, &[Type::list(object(JSON_PATCH))]))
            }
        });
        Self {
            mutations: mutations.collect(),
            conditions,
            declarations,
        }
    }

    /// Returns the number of mutations.
    #[must_use]
    pub fn mutations(&self) -> usize {
        self.mutations.len()
    }

    /// Evaluates the match conditions.
    ///
    /// # Errors
    ///
    /// The authorizer has to decide first.
    pub fn matches(&self, inputs: &Inputs<'_>) -> Result<Matching, Suspended> {
        self.conditions.evaluate_with(inputs, &self.declarations)
    }

    /// Evaluates the mutation at `index`.
    ///
    /// # Errors
    ///
    /// The expression fails, or the authorizer has to decide first.
    pub fn changes(&self, index: usize, inputs: &Inputs<'_>) -> Result<Changes, Failure> {
        let Some(mutation) = self.mutations.get(index) else {
            return Ok(Changes::Patch(Vec::new()));
        };
        let (CompiledMutation::ApplyConfiguration(expression) | CompiledMutation::JsonPatch(expression)) = mutation;
        if let Err(why) = expression.program() {
            return Err(Failure::Failed(why.to_owned()));
        }
        let activation = Activation::new(inputs, &self.declarations, true);
        let mut budget = BUDGET;
        let value = match activation.evaluate(expression, &mut budget) {
            Ok(result) => result.map_err(Failure::Failed)?,
            Err(Stop::Suspended) => return Err(Failure::Suspended),
            Err(Stop::OutOfBudget) => return Err(Failure::Failed(OUT_OF_BUDGET.to_owned())),
        };
        let changes = match mutation {
            CompiledMutation::ApplyConfiguration(_) => configuration(&value).map(Changes::Merge),
            CompiledMutation::JsonPatch(_) => operations(&value).map(Changes::Patch),
        };
        changes.map_err(Failure::Failed)
    }
}

fn configuration(value: &Value<'_>) -> Result<Json, String> {
    let Value::Object(object) = value else {
        return Err(format!(
            "unsupported return type from ApplyConfiguration expression: {}",
            value.type_name()
        ));
    };
    object
        .check_type_names()
        .map_err(|why| format!("type mismatch: {why}"))?;
    value
        .to_json()
        .map_err(|fault| format!("invalid return type: {}", fault.message()))
}

fn operations(value: &Value<'_>) -> Result<Vec<Operation>, String> {
    let Value::List(list) = value else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    let elements = list.elements().map_err(|fault| fault.message().to_owned())?;
    elements.iter().map(operation).collect()
}

fn operation(value: &Value<'_>) -> Result<Operation, String> {
    let object = match value {
        Value::Object(object) if object.name == JSON_PATCH => object,
        other => {
            return Err(format!(
                "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of {}",
                other.type_name()
            ));
        }
    };
    let text = |name: &str| match object.fields.get(name) {
        Some(Value::String(text)) => text.to_string(),
        _ => String::new(),
    };
    Ok(Operation {
        op: text("op"),
        path: text("path"),
        from: text("from"),
        value: object.fields.get("value").map(value_of).transpose()?,
    })
}

fn value_of(value: &Value<'_>) -> Result<Json, String> {
    if let Value::Object(object) = value {
        object
            .check_type_names()
            .map_err(|why| format!("type mismatch: {why}"))?;
    }
    value.to_json().map_err(|fault| {
        format!(
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON: {}",
            fault.message()
        )
    })
}
