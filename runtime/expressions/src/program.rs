//! Type-checked expressions, ready for evaluation.

mod constants;
mod evaluator;

use std::collections::HashMap;

use planesmith_machinery::go_pattern::{self, Pattern};

use crate::ast::{Expr, Literal, Node, walk};
use crate::authorization::Authorizer;
use crate::checker::{Checked, check};
use crate::collections;
use crate::cost::estimate;
use crate::declared::Declared;
use crate::functions::clauses;
use crate::library::instant::Instant;
use crate::library::time;
use crate::parser::parse;
use crate::source::Source;
use crate::types::Type;
use crate::value::{Effort, Evaluated};

use constants::Constants;
use evaluator::Evaluator;

/// The cost limit of one expression, about 0.1 seconds; evaluation stops beyond it.
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// The names in scope for an expression.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: HashMap<String, Type>,
    /// The objects that expressions can construct, by the names of their types.
    objects: HashMap<String, Type>,
    root: Option<Declared>,
    binds: bool,
}

impl Environment {
    /// Creates an environment without names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the variable `name`.
    #[must_use]
    pub fn with(mut self, name: &str, ty: Type) -> Self {
        self.variables.insert(name.to_owned(), ty);
        self
    }

    /// Adds object construction for type `ty`: `Name{field: value}`.
    #[must_use]
    pub fn with_object(mut self, ty: Type) -> Self {
        self.objects.insert(ty.to_string(), ty);
        self
    }

    /// Adds `cel.bind(name, value, expression)`, which names a value for one expression.
    #[must_use]
    pub fn with_bindings(self) -> Self {
        Self { binds: true, ..self }
    }

    /// Adds size bounds for `self` and `oldSelf`, from their declaration.
    #[must_use]
    pub(crate) fn bounded_by(mut self, root: &Declared) -> Self {
        self.root = Some(root.clone());
        self
    }

    /// Compiles `text`.
    ///
    /// # Errors
    ///
    /// The errors in the text with their positions, worded as kube-apiserver words them.
    pub fn compile(&self, text: &str) -> Result<Program, String> {
        let mut source = Source::new(text);
        let Some((expr, ids)) = parse(&mut source, self.binds) else {
            return Err(source.complaint());
        };
        let checked = check(&expr, ids, (&self.variables, &self.objects), &mut source);
        let mut patterns = HashMap::new();
        if source.is_sound() {
            check_literals(&expr, &checked, &mut patterns, &mut source);
            collections::check(&expr, &checked, &mut source);
        }
        if !source.is_sound() {
            return Err(source.complaint());
        }
        let max_cost = estimate(&expr, &checked, self.root.as_ref(), u64::MAX);
        let mut program = Program {
            constants: Constants::of(&expr),
            expr,
            checked,
            patterns,
            max_cost,
            problem: None,
        };
        program.problem = constants::problem(&program);
        Ok(program)
    }
}

/// Reports literals that are not valid durations, timestamps, patterns or formats where these are required.
fn check_literals(expr: &Expr, checked: &Checked, patterns: &mut HashMap<String, Pattern>, source: &mut Source) {
    walk(expr, &mut |expr| {
        let Node::Call(call) = &expr.node else { return };
        if let ("format", Some(format), [values]) = (call.function.as_str(), &call.target, call.args.as_slice())
            && let (Node::Literal(Literal::String(format)), Node::List(values)) = (&format.node, &values.node)
            && let Err((at, problem)) = clauses::check(format, values, expr.at, &|value| checked.type_of(value))
        {
            source.report(at, problem);
        }
        for (index, arg) in call.args.iter().enumerate() {
            let Node::Literal(literal) = &arg.node else {
                continue;
            };
            let is_member = call.target.is_some();
            let fits = match (call.function.as_str(), index, literal) {
                ("duration", 0, Literal::String(text)) => time::parse_go_duration(text).is_some(),
                ("timestamp", 0, Literal::String(text)) => Instant::parse(text).is_ok(),
                ("timestamp", 0, Literal::Int(seconds)) => Instant::from_second(*seconds).is_some(),
                ("matches" | "find" | "findAll", index, Literal::String(text)) => {
                    let regex = go_pattern::compile_unknown(text);
                    // kube-apiserver checks the first argument, even where that is the text, and the pattern later.
                    let fits = regex.is_ok() || call.function != "matches" || index > 0;
                    if index == usize::from(!is_member) {
                        patterns.extend(regex.ok().map(|regex| (text.clone(), regex)));
                    }
                    fits
                }
                _ => true,
            };
            if !fits {
                source.report(arg.at, format!("invalid {} argument", call.function));
            }
        }
    });
}

/// The variables that a policy declares. Each is evaluated when an expression first uses it.
pub(crate) trait DeclaredVariables<'d> {
    /// True if a variable `name` exists.
    fn has(&self, name: &str) -> bool;

    /// Returns the value of a variable, whose evaluation uses up `effort`.
    fn value(&self, name: &str, effort: &mut Effort) -> Evaluated<'d>;

    /// Returns all variables as a map.
    fn all(&self, effort: &mut Effort) -> Evaluated<'d>;
}

/// The values in scope for an evaluation.
#[derive(Clone, Copy, Default)]
pub(crate) struct Scope<'p, 'd> {
    /// Variables, by name.
    pub(crate) variables: &'p [(&'p str, Evaluated<'d>)],
    /// The fields of `variables`.
    pub(crate) declared: Option<&'p dyn DeclaredVariables<'d>>,
    /// Decides about the checks of an expression.
    pub(crate) authorizer: Option<&'p dyn Authorizer>,
}

/// A compiled expression, ready for evaluation.
#[derive(Debug)]
pub struct Program {
    pub(crate) expr: Expr,
    pub(crate) checked: Checked,
    pub(crate) patterns: HashMap<String, Pattern>,
    constants: Constants,
    max_cost: u64,
    problem: Option<String>,
}

/// The outcome of an evaluation.
#[derive(Debug)]
pub struct Evaluation<'d> {
    /// The value, or the fault that prevented it.
    pub result: Evaluated<'d>,
    /// The cost of the evaluation.
    pub cost: u64,
    /// The effort that remains, and the upper bound of the pattern matching steps taken.
    pub(crate) effort: Effort,
}

impl Program {
    /// Returns the static type of the result.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        self.checked.type_of(&self.expr)
    }

    /// Returns the reason why the program can never run: a part that kube-apiserver evaluates beforehand fails.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Returns the program.
    ///
    /// # Errors
    ///
    /// It can never run; worded as kube-apiserver words it.
    pub(crate) fn instantiated(self) -> Result<Self, String> {
        match self.problem() {
            Some(problem) => Err(format!("program instantiation failed: {problem}")),
            None => Ok(self),
        }
    }

    /// Returns the maximum cost, estimated from declared sizes.
    #[must_use]
    pub fn max_cost(&self) -> u64 {
        self.max_cost
    }

    /// Like [`Self::max_cost`], for a `root` in which no value is larger than `longest`, in characters, elements or entries.
    pub(crate) fn max_cost_within(&self, root: &Declared, longest: u64) -> u64 {
        estimate(&self.expr, &self.checked, Some(root), longest)
    }

    /// True if the expression uses the variable `name`.
    #[must_use]
    pub fn uses(&self, name: &str) -> bool {
        self.checked.used.iter().any(|used| used == name)
    }

    /// Evaluates with `variables`, by name; stops once the cost exceeds `limit`.
    pub fn evaluate<'d>(&'d self, variables: &[(&str, Evaluated<'d>)], limit: u64) -> Evaluation<'d> {
        self.evaluate_within(variables, limit, Effort::default())
    }

    /// Like [`Self::evaluate`], and also stops once `effort` is used up.
    pub(crate) fn evaluate_within<'d>(
        &'d self,
        variables: &[(&str, Evaluated<'d>)],
        limit: u64,
        effort: Effort,
    ) -> Evaluation<'d> {
        let scope = Scope {
            variables,
            ..Scope::default()
        };
        self.evaluate_in(scope, limit, effort)
    }

    /// Like [`Self::evaluate`], with the values of `scope`, until `effort` is used up.
    pub(crate) fn evaluate_in<'d>(&'d self, scope: Scope<'_, 'd>, limit: u64, effort: Effort) -> Evaluation<'d> {
        let mut evaluator = Evaluator::new(self, scope, limit, effort);
        let result = evaluator.run();
        Evaluation {
            result,
            cost: evaluator.cost(),
            effort: evaluator.into_effort(),
        }
    }

    /// Returns the height of the expression tree.
    pub(crate) fn depth(&self) -> usize {
        usize::from(self.expr.depth)
    }
}
