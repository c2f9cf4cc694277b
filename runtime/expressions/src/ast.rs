//! Expression trees, with all macros expanded.

use crate::source::Position;

/// An expression's identity within its tree; an index into side tables.
pub(crate) type Id = usize;

/// One expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) id: Id,
    pub(crate) at: Position,
    /// The height of the tree, counting this expression.
    pub(crate) depth: u16,
    pub(crate) node: Node,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Literal(Literal),
    Ident(String),
    Select(Box<Select>),
    Call(Box<Call>),
    List(Vec<Element>),
    Map(Vec<Entry>),
    Struct(Box<Struct>),
    Fold(Box<Fold>),
    /// A part that failed to parse; its problem is already reported.
    Broken,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(crate) struct Select {
    pub(crate) operand: Expr,
    pub(crate) field: String,
    /// True for a presence test, `has(operand.field)`.
    pub(crate) is_test: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: String,
    pub(crate) target: Option<Expr>,
    pub(crate) args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) value: Expr,
    pub(crate) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Expr,
    pub(crate) value: Expr,
    pub(crate) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) at: Position,
    pub(crate) name: String,
    pub(crate) value: Expr,
    pub(crate) is_optional: bool,
}

/// The expansion of most macros: a loop over a list or the keys of a map that folds to one value.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) range: Expr,
    pub(crate) variable: String,
    /// The second loop variable. If set, `variable` is the index or key, and this is the element or value.
    pub(crate) second: Option<String>,
    pub(crate) accumulator: String,
    pub(crate) start: Expr,
    pub(crate) condition: Expr,
    pub(crate) step: Expr,
    pub(crate) result: Expr,
}

/// The accumulator variable of loops that need no name of their own.
pub(crate) const ACCUMULATOR: &str = "@result";

/// Function names of the operators.
pub(crate) mod operator {
    pub(crate) const AND: &str = "_&&_";
    pub(crate) const OR: &str = "_||_";
    pub(crate) const NOT: &str = "!_";
    pub(crate) const NEGATE: &str = "-_";
    pub(crate) const CONDITIONAL: &str = "_?_:_";
    pub(crate) const EQUALS: &str = "_==_";
    pub(crate) const ADD: &str = "_+_";
    pub(crate) const IN: &str = "@in";
    pub(crate) const INDEX: &str = "_[_]";
    pub(crate) const OPTIONAL_INDEX: &str = "_[?_]";
    pub(crate) const OPTIONAL_SELECT: &str = "_?._";
    pub(crate) const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
    pub(crate) const INSERT: &str = "cel.@mapInsert";
}

impl Node {
    /// Returns the height of the tallest child.
    pub(crate) fn depth(&self) -> u16 {
        let deepest = match self {
            Node::Literal(_) | Node::Ident(_) | Node::Broken => None,
            Node::Select(select) => Some(select.operand.depth),
            Node::Call(call) => call.target.iter().chain(&call.args).map(|part| part.depth).max(),
            Node::List(elements) => elements.iter().map(|element| element.value.depth).max(),
            Node::Map(entries) => entries.iter().map(|entry| entry.key.depth.max(entry.value.depth)).max(),
            Node::Struct(object) => object.fields.iter().map(|field| field.value.depth).max(),
            Node::Fold(fold) => {
                let parts = [&fold.range, &fold.start, &fold.condition, &fold.step, &fold.result];
                parts.into_iter().map(|part| part.depth).max()
            }
        };
        deepest.unwrap_or_default().saturating_add(1)
    }
}

impl Expr {
    /// Returns the dotted name `a.b.c` if the expression has that form.
    pub(crate) fn qualified_name(&self) -> Option<String> {
        match &self.node {
            Node::Ident(name) => Some(name.clone()),
            Node::Select(select) if !select.is_test => {
                let mut name = select.operand.qualified_name()?;
                name.push('.');
                name.push_str(&select.field);
                Some(name)
            }
            _ => None,
        }
    }

    /// Returns the fold of a `cel.bind`: it never iterates and only names a value for one expression.
    pub(crate) fn as_binding(&self) -> Option<&Fold> {
        match &self.node {
            Node::Fold(fold) => {
                let empty = matches!(&fold.range.node, Node::List(elements) if elements.is_empty());
                let never = matches!(fold.condition.node, Node::Literal(Literal::Bool(false)));
                (empty && never && fold.accumulator != ACCUMULATOR).then_some(&**fold)
            }
            _ => None,
        }
    }
}

/// Calls `visit` with the expression and all its descendants.
pub(crate) fn walk<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    walk_into(expr, &mut |expr| {
        visit(expr);
        true
    });
}

/// Calls `visit` with the expression, and with the descendants of those for which it returns true.
pub(crate) fn walk_into<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr) -> bool) {
    if visit(expr) {
        each_part(expr, &mut |part| walk_into(part, visit));
    }
}

/// Calls `visit` with the direct parts of the expression.
pub(crate) fn each_part<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match &expr.node {
        Node::Literal(_) | Node::Ident(_) | Node::Broken => {}
        Node::Select(select) => visit(&select.operand),
        Node::Call(call) => call.target.iter().chain(&call.args).for_each(visit),
        Node::List(elements) => elements.iter().for_each(|element| visit(&element.value)),
        Node::Map(entries) => {
            for entry in entries {
                visit(&entry.key);
                visit(&entry.value);
            }
        }
        Node::Struct(object) => object.fields.iter().for_each(|field| visit(&field.value)),
        Node::Fold(fold) => {
            for part in [&fold.range, &fold.start, &fold.condition, &fold.step, &fold.result] {
                visit(part);
            }
        }
    }
}
