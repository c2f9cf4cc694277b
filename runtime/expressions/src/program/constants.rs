//! Parts of programs that do not depend on variables, which cel-go evaluates when it creates a program.

use planesmith_machinery::go_pattern;

use super::evaluator::Evaluator;
use super::{PER_CALL_LIMIT, Program, Scope};
use crate::ast::{Call, Expr, Literal, Node, walk};
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

/// True for literals and their conversions.
fn is_constant(expr: &Expr) -> bool {
    match &expr.node {
        Node::Literal(_) => true,
        Node::Call(call) => matches!(&**call, Call { function, target: None, args }
            if is_conversion(function) && args.iter().all(is_constant)),
        _ => false,
    }
}
