//! Parts of programs that do not depend on variables, which cel-go evaluates when it creates a program.

use planesmith_machinery::go_pattern;

use super::evaluator::Evaluator;
use super::{PER_CALL_LIMIT, Program, Scope};
use crate::ast::{Call, Element, Expr, Id, Literal, Node, each_part, operator, walk};
use crate::functions::is_conversion;
use crate::value::Effort;

/// Returns the first problem of a constant part: a pattern that does not compile, or a conversion that fails.
pub(super) fn problem(program: &Program) -> Option<String> {
    let mut problem = None;
    walk(&program.expr, &mut |expr| {
        if problem.is_none() {
            problem = problem_of(expr, program);
        }
    });
    problem
}

fn problem_of(expr: &Expr, program: &Program) -> Option<String> {
    let Node::Call(call) = &expr.node else { return None };
    match (call.function.as_str(), call.args.as_slice(), call.target.is_some()) {
        ("find" | "findAll", [pattern, ..], true) | ("matches", [_, pattern], false) => match &pattern.node {
            Node::Literal(Literal::String(pattern)) => go_pattern::problem(pattern),
            _ => None,
        },
        (_, [_], _) if is_constant(expr) => {
            let mut evaluator = Evaluator::new(program, Scope::default(), PER_CALL_LIMIT, Effort::default());
            let fault = evaluator.eval(expr).err()?;
            Some(fault.message().to_owned())
        }
        _ => None,
    }
}

/// The parts of an expression whose values cel-go computes when it creates a program. Their evaluation has no cost.
#[derive(Debug, Default)]
pub(super) struct Constants {
    /// Lists and maps of constants, and conversions of one, by their ids.
    computed: Ids,
    /// Searches in constant lists, for which cel-go has a table.
    searches: Ids,
}

/// A set of ids. They are small and consecutive, and each evaluated part asks for its own.
#[derive(Debug, Default)]
struct Ids(Vec<bool>);

impl Ids {
    fn contains(&self, id: Id) -> bool {
        self.0.get(id).copied().unwrap_or_default()
    }

    fn insert(&mut self, id: Id) {
        if self.0.len() <= id {
            self.0.resize(id + 1, false);
        }
        self.0[id] = true;
    }
}

impl Constants {
    /// Finds the constants in an expression.
    pub(super) fn of(expr: &Expr) -> Self {
        let mut constants = Self::default();
        constants.visit(expr);
        constants
    }

    /// True if the value of the part is computed beforehand.
    pub(super) fn has(&self, expr: &Expr) -> bool {
        self.computed.contains(expr.id)
    }

    /// True if the part searches in a constant list.
    pub(super) fn is_search(&self, expr: &Expr) -> bool {
        self.searches.contains(expr.id)
    }

    /// Returns true if the value of the expression is constant.
    fn visit(&mut self, expr: &Expr) -> bool {
        let mut are_constant = true;
        each_part(expr, &mut |part| are_constant &= self.visit(part));
        match &expr.node {
            Node::Literal(_) => return true,
            Node::List(_) | Node::Map(_) if are_constant => {
                self.computed.insert(expr.id);
                return true;
            }
            Node::Call(call) => match call.args.as_slice() {
                [_] if are_constant && call.target.is_none() && is_conversion(&call.function) => {
                    self.computed.insert(expr.id);
                    return true;
                }
                [_, list] if call.function == operator::IN => self.visit_search(expr, list),
                _ => {}
            },
            _ => {}
        }
        false
    }

    fn visit_search(&mut self, expr: &Expr, list: &Expr) {
        let Node::List(elements) = &list.node else { return };
        let is_simple = |element: &Element| matches!(&element.value.node, Node::Literal(literal) if !matches!(literal, Literal::Bytes(_) | Literal::Null));
        if elements.iter().all(is_simple) {
            self.searches.insert(expr.id);
        }
    }
}

/// True for literals and their conversions.
fn is_constant(expr: &Expr) -> bool {
    match &expr.node {
        Node::Literal(_) => true,
        Node::Call(call) => matches!(&**call, Call { function, target: None, args }
            if is_conversion(function) && args.iter().all(is_constant)),
        _ => false,
    }
}
