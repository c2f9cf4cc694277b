//! Expands macros: `has`, loops over lists and maps, steps over optional values.

use crate::ast::{ACCUMULATOR, Element, Expr, Fold, Literal, Node, operator};
use crate::source::Position;

use super::Parser;

/// The approximate tree size at which expansion stops. Optional steps duplicate their target, so nested ones grow
/// exponentially.
const MAX_NODES: usize = 100_000;

/// Expands or creates a call of a global function.
pub(crate) fn global_call(parser: &mut Parser<'_>, at: Position, function: &str, mut args: Vec<Expr>) -> Expr {
    if function == "has" && args.len() == 1 {
        let argument = args.remove(0);
        return match argument.node {
            Node::Select(select) => parser.select(at, select.operand, select.field, true),
            _ => parser.refuse(argument.at, "invalid argument to has() macro"),
        };
    }
    parser.call(at, function, None, args)
}

/// Expands or creates a call of a member function.
pub(crate) fn member_call(
    parser: &mut Parser<'_>,
    at: Position,
    function: &str,
    target: Expr,
    mut args: Vec<Expr>,
) -> Expr {
    if function == "bind"
        && args.len() == 3
        && parser.binds()
        && matches!(&target.node, Node::Ident(name) if name == "cel")
    {
        return named(parser, at, args);
    }
    let call = |target, variables| MacroCall {
        at,
        function,
        target,
        variables,
    };
    let has_two = matches!(function, "transformList" | "transformMap" | "transformMapEntry");
    let expanded = match (function, args.len()) {
        ("all" | "exists" | "exists_one", 2 | 3) | ("existsOne", 3) => {
            let body = args.pop();
            variables(parser, &args, "argument must be a simple name").and_then(|variables| {
                let body = body.ok_or_else(|| parser.refuse(at, "argument must be a simple name"))?;
                Ok(quantifier(parser, call(target, variables), body))
            })
        }
        ("map", 2 | 3) | ("filter", 2) => {
            let rest = args.split_off(1);
            variables(parser, &args, "argument is not an identifier")
                .map(|variables| mapping(parser, call(target, variables), rest))
        }
        (_, 3 | 4) if has_two => {
            let rest = args.split_off(2);
            variables(parser, &args, "argument must be a simple name")
                .map(|variables| transformation(parser, call(target, variables), rest))
        }
        ("optMap" | "optFlatMap", 2) => {
            let rest = args.split_off(1);
            let complaint = format!("{function}() variable name must be a simple identifier");
            variables(parser, &args, &complaint)
                .map(|variables| optional(parser, at, function, &target, variables.first, rest))
        }
        ("sortBy", 2) => Ok(sort_by(parser, at, target, args)),
        _ => return parser.call(at, function, Some(target), args),
    };
    expanded.unwrap_or_else(|broken| broken)
}

struct Variables {
    first: String,
    second: Option<String>,
}

/// A call of a macro that loops over its target.
struct MacroCall<'t> {
    at: Position,
    function: &'t str,
    target: Expr,
    variables: Variables,
}

/// Returns the loop variables of a macro.
fn variables(parser: &mut Parser<'_>, args: &[Expr], complaint: &str) -> Result<Variables, Expr> {
    let mut names = Vec::with_capacity(2);
    for arg in args {
        let name = match &arg.node {
            Node::Ident(name) if name == "__result__" => {
                return Err(parser.refuse(arg.at, "iteration variable overwrites accumulator variable"));
            }
            Node::Ident(name) => name.clone(),
            _ => return Err(parser.refuse(arg.at, complaint)),
        };
        if names.contains(&name) {
            return Err(parser.refuse(arg.at, format!("duplicate variable name: {name}")));
        }
        names.push(name);
    }
    let mut names = names.into_iter();
    Ok(Variables {
        first: names.next().unwrap_or_default(),
        second: names.next(),
    })
}

/// The body of a loop, which collects its result in an accumulator.
struct Loop {
    start: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
}

fn fold(parser: &mut Parser<'_>, at: Position, range: Expr, variables: Variables, body: Loop) -> Expr {
    let fold = Fold {
        range,
        variable: variables.first,
        second: variables.second,
        accumulator: ACCUMULATOR.to_owned(),
        start: body.start,
        condition: body.condition,
        step: body.step,
        result: body.result,
    };
    parser.expr(at, Node::Fold(Box::new(fold)))
}

/// Expands `all`, `exists` and `exists_one`.
fn quantifier(parser: &mut Parser<'_>, call: MacroCall<'_>, body: Expr) -> Expr {
    let at = call.at;
    let accumulator = parser.ident(at, ACCUMULATOR);
    let body = match call.function {
        "all" => {
            let watched = parser.ident(at, ACCUMULATOR);
            Loop {
                start: parser.literal(at, Literal::Bool(true)),
                condition: parser.call(at, operator::NOT_STRICTLY_FALSE, None, vec![watched]),
                step: parser.call(at, operator::AND, None, vec![accumulator, body]),
                result: parser.ident(at, ACCUMULATOR),
            }
        }
        "exists" => {
            let watched = parser.ident(at, ACCUMULATOR);
            let negated = parser.call(at, operator::NOT, None, vec![watched]);
            Loop {
                start: parser.literal(at, Literal::Bool(false)),
                condition: parser.call(at, operator::NOT_STRICTLY_FALSE, None, vec![negated]),
                step: parser.call(at, operator::OR, None, vec![accumulator, body]),
                result: parser.ident(at, ACCUMULATOR),
            }
        }
        _ => {
            let one = parser.literal(at, Literal::Int(1));
            let counted = parser.call(at, operator::ADD, None, vec![accumulator, one]);
            let same = parser.ident(at, ACCUMULATOR);
            let (count, one) = (parser.ident(at, ACCUMULATOR), parser.literal(at, Literal::Int(1)));
            Loop {
                start: parser.literal(at, Literal::Int(0)),
                condition: parser.literal(at, Literal::Bool(true)),
                step: parser.call(at, operator::CONDITIONAL, None, vec![body, counted, same]),
                result: parser.call(at, operator::EQUALS, None, vec![count, one]),
            }
        }
    };
    fold(parser, at, call.target, call.variables, body)
}

/// Expands `map` and `filter`.
fn mapping(parser: &mut Parser<'_>, call: MacroCall<'_>, mut rest: Vec<Expr>) -> Expr {
    let last = rest
        .pop()
        .unwrap_or_else(|| parser.refuse(call.at, "argument is missing"));
    let (filter, element) = match call.function {
        "filter" => (Some(last), parser.ident(call.at, &call.variables.first)),
        _ => (rest.pop(), last),
    };
    collected(parser, call, filter, element)
}

/// Expands a loop that collects `element` in a list.
fn collected(parser: &mut Parser<'_>, call: MacroCall<'_>, filter: Option<Expr>, element: Expr) -> Expr {
    let at = call.at;
    let element = Element {
        value: element,
        is_optional: false,
    };
    let added = parser.expr(at, Node::List(vec![element]));
    let accumulator = parser.ident(at, ACCUMULATOR);
    let step = parser.call(at, operator::ADD, None, vec![accumulator, added]);
    let start = parser.expr(at, Node::List(Vec::new()));
    accumulate(parser, call, filter, start, step)
}

/// Expands a loop in which each element that passes `filter` changes the accumulator by `step`.
fn accumulate(parser: &mut Parser<'_>, call: MacroCall<'_>, filter: Option<Expr>, start: Expr, step: Expr) -> Expr {
    let at = call.at;
    let step = match filter {
        Some(filter) => {
            let same = parser.ident(at, ACCUMULATOR);
            parser.call(at, operator::CONDITIONAL, None, vec![filter, step, same])
        }
        None => step,
    };
    let body = Loop {
        start,
        condition: parser.literal(at, Literal::Bool(true)),
        step,
        result: parser.ident(at, ACCUMULATOR),
    };
    fold(parser, at, call.target, call.variables, body)
}

/// Expands the loops with two variables that create lists and maps.
fn transformation(parser: &mut Parser<'_>, call: MacroCall<'_>, mut rest: Vec<Expr>) -> Expr {
    let at = call.at;
    let value = rest.pop().unwrap_or_else(|| parser.refuse(at, "argument is missing"));
    let filter = rest.pop();
    if call.function == "transformList" {
        return collected(parser, call, filter, value);
    }
    let mut args = vec![parser.ident(at, ACCUMULATOR)];
    if call.function == "transformMap" {
        args.push(parser.ident(at, &call.variables.first));
    }
    args.push(value);
    let step = parser.call(at, operator::INSERT, None, args);
    let start = parser.expr(at, Node::Map(Vec::new()));
    accumulate(parser, call, filter, start, step)
}

/// Expands `cel.bind`.
fn named(parser: &mut Parser<'_>, at: Position, args: Vec<Expr>) -> Expr {
    let Ok([name, value, expr]) = <[Expr; 3]>::try_from(args) else {
        return parser.refuse(at, "argument is missing");
    };
    match &name.node {
        Node::Ident(text) => bind(parser, at, text, value, expr),
        _ => parser.refuse(name.at, "cel.bind() variable names must be simple identifiers"),
    }
}

/// Names a value for one expression.
fn bind(parser: &mut Parser<'_>, at: Position, name: &str, value: Expr, expr: Expr) -> Expr {
    let fold = Fold {
        range: parser.expr(at, Node::List(Vec::new())),
        variable: "#unused".to_owned(),
        second: None,
        accumulator: name.to_owned(),
        start: value,
        condition: parser.literal(at, Literal::Bool(false)),
        step: parser.ident(at, name),
        result: expr,
    };
    parser.expr(at, Node::Fold(Box::new(fold)))
}

#[expect(clippy::needless_pass_by_value, reason = "as every macro with a variable has it")]
fn optional(
    parser: &mut Parser<'_>,
    at: Position,
    function: &str,
    target: &Expr,
    name: String,
    mut rest: Vec<Expr>,
) -> Expr {
    let body = rest.pop().unwrap_or_else(|| parser.refuse(at, "argument is missing"));
    if parser.nodes() > MAX_NODES {
        return parser.refuse(at, "expression is too large");
    }
    let copied = copy(parser, at, target);
    let value = parser.call(at, "value", Some(copied), Vec::new());
    let mut bound = bind(parser, at, &name, value, body);
    if function == "optMap" {
        bound = parser.call(at, "optional.of", None, vec![bound]);
    }
    let has = parser.call(at, "hasValue", Some(target.clone()), Vec::new());
    let none = parser.call(at, "optional.none", None, Vec::new());
    parser.call(at, operator::CONDITIONAL, None, vec![has, bound, none])
}

fn sort_by(parser: &mut Parser<'_>, at: Position, target: Expr, mut args: Vec<Expr>) -> Expr {
    const INPUT: &str = "@__sortBy_input__";
    let rest = args.split_off(1);
    let variables = match variables(parser, &args, "argument is not an identifier") {
        Ok(variables) => variables,
        Err(broken) => return broken,
    };
    let call = MacroCall {
        at,
        function: "map",
        target: parser.ident(at, INPUT),
        variables,
    };
    let keys = mapping(parser, call, rest);
    let input = parser.ident(at, INPUT);
    let sorted = parser.call(at, "@sortByAssociatedKeys", Some(input), vec![keys]);
    bind(parser, at, INPUT, target, sorted)
}

/// Copies an expression with new ids. `at` is the position of the macro, which the fields of its objects get.
fn copy(parser: &mut Parser<'_>, at: Position, expr: &Expr) -> Expr {
    let node = match &expr.node {
        Node::Select(select) => {
            let mut select = select.clone();
            select.operand = copy(parser, at, &select.operand);
            Node::Select(select)
        }
        Node::Call(call) => {
            let mut call = call.clone();
            call.target = call.target.as_ref().map(|target| copy(parser, at, target));
            call.args = call.args.iter().map(|arg| copy(parser, at, arg)).collect();
            Node::Call(call)
        }
        Node::List(elements) => {
            let mut elements = elements.clone();
            for element in &mut elements {
                element.value = copy(parser, at, &element.value);
            }
            Node::List(elements)
        }
        Node::Map(entries) => {
            let mut entries = entries.clone();
            for entry in &mut entries {
                entry.key = copy(parser, at, &entry.key);
                entry.value = copy(parser, at, &entry.value);
            }
            Node::Map(entries)
        }
        Node::Fold(fold) => {
            let mut fold = fold.clone();
            for part in [
                &mut fold.range,
                &mut fold.start,
                &mut fold.condition,
                &mut fold.step,
                &mut fold.result,
            ] {
                *part = copy(parser, at, part);
            }
            Node::Fold(fold)
        }
        Node::Struct(value) => {
            let mut value = value.clone();
            for field in &mut value.fields {
                field.at = at;
                field.value = copy(parser, at, &field.value);
            }
            Node::Struct(value)
        }
        node @ (Node::Literal(_) | Node::Ident(_) | Node::Broken) => node.clone(),
    };
    parser.expr(expr.at, node)
}
