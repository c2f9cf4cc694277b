//! Expressions that are checked and ready to be evaluated.

use std::collections::HashMap;

use planesmith_machinery::go_pattern::{self, Pattern};

use crate::ast::{Expr, Literal, Node, walk};
use crate::checker::{Checked, check};
use crate::cost::estimate;
use crate::declared::Declared;
use crate::evaluator::Evaluator;
use crate::functions::times;
use crate::parser::parse;
use crate::source::Source;
use crate::types::Type;
use crate::value::{Effort, Evaluated};

/// What an expression may cost; beyond that it is stopped. About 0.1 seconds.
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// The names that an expression knows.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: HashMap<String, Type>,
    root: Option<Declared>,
    binds: bool,
}

impl Environment {
    /// An environment that knows no names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With the variable `name`.
    #[must_use]
    pub fn with(mut self, name: &str, ty: Type) -> Self {
        self.variables.insert(name.to_owned(), ty);
        self
    }

    /// With objects of type `ty` that expressions can make, `Name{field: value}`.
    #[must_use]
    pub fn with_object(self, ty: Type) -> Self {
        let name = format!("{ty}{{}}");
        self.with(&name, ty)
    }

    /// With `cel.bind(name, value, expression)`, which names a value for one expression.
    #[must_use]
    pub fn with_bindings(self) -> Self {
        Self { binds: true, ..self }
    }

    /// With what bounds the sizes of values below variables.
    #[must_use]
    pub(crate) fn bounded_by(mut self, root: &Declared) -> Self {
        self.root = Some(root.clone());
        self
    }

    /// The program of `text`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, with the places, in the words of kube-apiserver.
    pub fn compile(&self, text: &str) -> Result<Program, String> {
        let mut source = Source::new(text);
        let Some((expr, ids)) = parse(&mut source, self.binds) else {
            return Err(source.complaint());
        };
        let checked = check(&expr, ids, &self.variables, &mut source);
        let mut patterns = HashMap::new();
        if source.is_sound() {
            check_literals(&expr, &mut patterns, &mut source);
        }
        if !source.is_sound() {
            return Err(source.complaint());
        }
        let max_cost = estimate(&expr, &checked, self.root.as_ref(), u64::MAX);
        Ok(Program {
            expr,
            checked,
            patterns,
            max_cost,
        })
    }
}

/// Reports texts in the expression that are no durations, times or patterns where such are needed.
fn check_literals(expr: &Expr, patterns: &mut HashMap<String, Pattern>, source: &mut Source) {
    walk(expr, &mut |expr| {
        let Node::Call(call) = &expr.node else { return };
        for (index, arg) in call.args.iter().enumerate() {
            let Node::Literal(Literal::String(text)) = &arg.node else {
                continue;
            };
            let is_member = call.target.is_some();
            let fits = match (call.function.as_str(), index) {
                ("duration", 0) => times::parse_go_duration(text).is_some(),
                ("timestamp", 0) => times::parse_timestamp(text).is_some(),
                ("matches" | "find" | "findAll", index) if index == usize::from(!is_member) => {
                    let regex = go_pattern::compile_unknown(text);
                    let fits = regex.is_ok() || call.function != "matches";
                    patterns.extend(regex.ok().map(|regex| (text.clone(), regex)));
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

/// An expression that is ready to be evaluated.
#[derive(Debug)]
pub struct Program {
    pub(crate) expr: Expr,
    pub(crate) checked: Checked,
    pub(crate) patterns: HashMap<String, Pattern>,
    max_cost: u64,
}

/// What came out of an evaluation.
#[derive(Debug)]
pub struct Evaluation<'d> {
    /// The value, or why there is none.
    pub result: Evaluated<'d>,
    /// What it cost.
    pub cost: u64,
    /// Steps that matching patterns may have taken.
    pub(crate) steps: u64,
}

impl Program {
    /// The type of what comes out.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        self.checked.type_of(&self.expr)
    }

    /// What evaluation costs at most, by what is known of sizes.
    #[must_use]
    pub fn max_cost(&self) -> u64 {
        self.max_cost
    }

    /// As [`Self::max_cost`] for a `root` in which nothing is larger than `longest`, in characters, elements or entries.
    pub(crate) fn max_cost_within(&self, root: &Declared, longest: u64) -> u64 {
        estimate(&self.expr, &self.checked, Some(root), longest)
    }

    /// Whether the variable `name` is used.
    #[must_use]
    pub fn uses(&self, name: &str) -> bool {
        self.checked.used.iter().any(|used| used == name)
    }

    /// Evaluates with `variables`, by name; stops when it costs more than `limit`.
    pub fn evaluate<'d>(&'d self, variables: &[(&str, Evaluated<'d>)], limit: u64) -> Evaluation<'d> {
        self.evaluate_within(variables, limit, Effort::default())
    }

    /// As [`Self::evaluate`]; stops too when it makes or compares more than `effort`.
    pub(crate) fn evaluate_within<'d>(
        &'d self,
        variables: &[(&str, Evaluated<'d>)],
        limit: u64,
        effort: Effort,
    ) -> Evaluation<'d> {
        let mut evaluator = Evaluator::new(self, variables, limit, effort);
        let result = evaluator.run();
        Evaluation {
            result,
            cost: evaluator.cost(),
            steps: evaluator.steps(),
        }
    }
}
