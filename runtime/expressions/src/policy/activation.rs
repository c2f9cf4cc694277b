//! The values of one request, and the evaluation of expressions with them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::expression::Expression;
use super::{PolicyEnvironment, environment};
use crate::authorization::{Authorizer, Check, ResourceCheck};
use crate::library::time;
use crate::program::{DeclaredVariables, PER_CALL_LIMIT, Program, Scope};
use crate::types::Type;
use crate::value::{Effort, Evaluated, Fault, Key, Library, Map, Value, from_plain_json};

/// The message for a set of expressions that exceeds its budget.
pub(super) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The maximum height of all expressions that are being evaluated because one uses a variable that uses others.
const MAX_HEIGHT: usize = 500;

/// The documents of a request. Absent ones are null.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'d> {
    /// The new object, in the version that the policy matches.
    pub object: &'d Json,
    /// The stored object, in the same version.
    pub old_object: &'d Json,
    /// The admission request, without the objects.
    pub request: &'d Json,
    /// The Namespace of the object.
    pub namespace: &'d Json,
    /// The parameters.
    pub params: &'d Json,
    /// The resource of the request, for `authorizer.requestResource`.
    pub resource: &'d ResourceCheck,
    /// Decides about checks.
    pub authorizer: &'d dyn Authorizer,
}

/// The evaluation needs a decision of the authorizer, and is to be repeated once the decision is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspended;

/// The reason why no further expression of a set is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    OutOfBudget,
    Suspended,
}

/// The variables that a policy declares, compiled.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    /// By name; of two variables with one name the last one counts.
    expressions: BTreeMap<String, Expression>,
}

impl Declarations {
    /// Compiles variables, each with its name and expression, and declares them in `environment`.
    pub(super) fn new(variables: &[(&str, &str)], environment: &mut PolicyEnvironment) -> Self {
        let mut expressions = BTreeMap::new();
        for (name, text) in variables {
            let expression = Expression::new(text, environment, &[]);
            environment.declare(name, &expression.result_type());
            expressions.insert((*name).to_owned(), expression);
        }
        Self { expressions }
    }
}

/// The values of one request, and what the evaluations with them have used up.
pub(super) struct Activation<'d> {
    values: Vec<(&'static str, Evaluated<'d>)>,
    authorizer: Option<&'d dyn Authorizer>,
    declarations: &'d Declarations,
    evaluated: RefCell<BTreeMap<&'d str, Evaluated<'d>>>,
    /// The cost of variables since the last expression.
    spent: Cell<u64>,
    /// The height of all expressions that are being evaluated.
    height: Cell<usize>,
    /// The effort of all evaluations.
    effort: RefCell<Effort>,
}

impl<'d> Activation<'d> {
    /// Creates the activation of `inputs`. Without `authorizes`, expressions that ask the authorizer fail.
    pub(super) fn new(inputs: &Inputs<'d>, declarations: &'d Declarations, authorizes: bool) -> Self {
        let namespace = match inputs.namespace {
            Json::Null => Value::Null,
            namespace => typed(namespace, &environment::namespace()),
        };
        let mut values = vec![
            ("object", Ok(from_plain_json(inputs.object))),
            ("oldObject", Ok(from_plain_json(inputs.old_object))),
            ("request", Ok(from_plain_json(inputs.request))),
            ("params", Ok(from_plain_json(inputs.params))),
            ("namespaceObject", Ok(namespace)),
        ];
        if authorizes {
            let check = Rc::new(Check::Resource(inputs.resource.clone()));
            values.push(("authorizer", Ok(Value::Library(Library::Authorizer(None)))));
            values.push((
                "authorizer.requestResource",
                Ok(Value::Library(Library::Check(check, None))),
            ));
        }
        Self {
            values,
            authorizer: authorizes.then_some(inputs.authorizer),
            declarations,
            evaluated: RefCell::default(),
            spent: Cell::new(0),
            height: Cell::new(0),
            effort: RefCell::default(),
        }
    }

    /// Evaluates an expression and takes its cost, and that of the variables it uses, from `budget`. The error of the
    /// expression itself is the inner one.
    pub(super) fn evaluate(
        &self,
        expression: &'d Expression,
        budget: &mut u64,
    ) -> Result<Result<Value<'d>, String>, Stop> {
        let program = match expression.program() {
            Ok(program) => program,
            Err(why) => return Ok(Err(format!("compilation error: {why}"))),
        };
        self.height.set(program.depth());
        let mut effort = self.effort.take();
        let (result, cost) = self.run(program, &mut effort);
        self.effort.replace(effort);
        if matches!(result, Err(Fault::Suspended)) {
            return Err(Stop::Suspended);
        }
        let cost = cost.saturating_add(self.spent.take());
        *budget = budget.checked_sub(cost).ok_or(Stop::OutOfBudget)?;
        Ok(result.map_err(|fault| {
            format!(
                "expression '{}' resulted in error: {}",
                expression.text(),
                fault.message()
            )
        }))
    }

    fn run(&self, program: &'d Program, effort: &mut Effort) -> (Evaluated<'d>, u64) {
        let scope = Scope {
            variables: &self.values,
            declared: Some(self),
            authorizer: self.authorizer,
        };
        let evaluation = program.evaluate_in(scope, PER_CALL_LIMIT, std::mem::take(effort));
        *effort = evaluation.effort;
        (evaluation.result, evaluation.cost)
    }

    fn declared_value(&self, name: &'d str, expression: &'d Expression, effort: &mut Effort) -> Evaluated<'d> {
        let program = expression
            .program()
            .map_err(|why| Fault::new(format!("composited variable {name:?} fails to compile: {why}")))?;
        let height = self.height.get().saturating_add(program.depth());
        if height > MAX_HEIGHT {
            return Err(Fault::new(format!("composited variable {name:?} is nested too deeply")));
        }
        let outer = self.height.replace(height);
        let (result, cost) = self.run(program, effort);
        self.height.set(outer);
        self.spent.set(self.spent.get().saturating_add(cost));
        result.map_err(|fault| match fault {
            Fault::Suspended => Fault::Suspended,
            Fault::Failed(_) | Fault::TooExpensive => Fault::new(format!(
                "composited variable {name:?} fails to evaluate: {}",
                fault.message()
            )),
        })
    }
}

impl<'d> DeclaredVariables<'d> for Activation<'d> {
    fn has(&self, name: &str) -> bool {
        self.declarations.expressions.contains_key(name)
    }

    fn value(&self, name: &str, effort: &mut Effort) -> Evaluated<'d> {
        if let Some(evaluated) = self.evaluated.borrow().get(name) {
            return evaluated.clone();
        }
        let Some((name, expression)) = self.declarations.expressions.get_key_value(name) else {
            return Err(Fault::new(format!("no such key: {name}")));
        };
        let evaluated = self.declared_value(name, expression, effort);
        if !matches!(evaluated, Err(Fault::Suspended)) {
            self.evaluated.borrow_mut().insert(name, evaluated.clone());
        }
        evaluated
    }

    fn all(&self, effort: &mut Effort) -> Evaluated<'d> {
        let mut values = BTreeMap::new();
        for name in self.declarations.expressions.keys() {
            values.insert(Key::from(name.as_str()), self.value(name, effort)?);
        }
        Ok(Value::Map(Map::Owned(Rc::new(values))))
    }
}

/// Returns a document as a value of type `ty`: texts that stand for times become timestamps.
fn typed<'d>(json: &'d Json, ty: &Type) -> Value<'d> {
    match (ty, json) {
        (Type::Timestamp, Json::String(text)) => match time::parse_time(text) {
            Some(time) => Value::Timestamp(time),
            None => from_plain_json(json),
        },
        (Type::Struct(object), Json::Object(entries)) => {
            let field = |(name, value): (&'d String, &'d Json)| {
                let value = match object.fields.get(name) {
                    Some(ty) => typed(value, ty),
                    None => from_plain_json(value),
                };
                (Key::from(name.as_str()), value)
            };
            Value::Map(Map::Owned(Rc::new(entries.iter().map(field).collect())))
        }
        (Type::List(element), Json::Array(elements)) => {
            Value::list(elements.iter().map(|value| typed(value, element)).collect())
        }
        _ => from_plain_json(json),
    }
}
