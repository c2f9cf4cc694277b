//! From text to a tree.
//!
//! Messages about syntax are those of the parser that kube-apiserver uses (made by ANTLR), for the mistakes that people
//! make: something else where an expression belongs, brackets that are not closed, a rest behind the end.

mod primary;

use crate::ast::{Call, Expr, Id, Literal, Node, Select, operator};
use crate::lexer::{Kind, Token, tokens};
use crate::macros;
use crate::source::{Position, Source};

/// Longer expressions are refused.
const MAX_CHARACTERS: usize = 100_000;

/// How deep expressions can be in each other, and how many operations can follow each other.
const MAX_DEPTH: usize = 250;

/// What an expression begins with, as messages list it.
const STARTS: &str =
    "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";

/// How deep trees can be; a chain of operations is a deep tree too.
const MAX_TREE: u16 = 400;

/// Operators that stand between operands, with how strongly they bind.
const OPERATORS: [(usize, &str, &str); 14] = [
    (0, "||", operator::OR),
    (AND, "&&", operator::AND),
    (2, "<", "_<_"),
    (2, "<=", "_<=_"),
    (2, ">=", "_>=_"),
    (2, ">", "_>_"),
    (2, "==", operator::EQUALS),
    (2, "!=", "_!=_"),
    (2, "in", "@in"),
    (3, "+", operator::ADD),
    (3, "-", "_-_"),
    (4, "*", "_*_"),
    (4, "/", "_/_"),
    (4, "%", "_%_"),
];

/// How strongly `&&` binds; only `||` binds less.
const AND: usize = 1;

/// Reading went wrong; the problem is reported.
pub(crate) struct Stopped;

type Parsed<T = Expr> = Result<T, Stopped>;

/// The tree of an expression, and how many ids it has. Problems are in `source`; with any the tree is worthless.
/// With `binds`, `cel.bind` names values.
pub(crate) fn parse(source: &mut Source, binds: bool) -> Option<(Expr, Id)> {
    if source.characters().len() > MAX_CHARACTERS {
        let message = format!(
            "expression code point size exceeds limit: size: {}, limit {MAX_CHARACTERS}",
            source.characters().len()
        );
        source.report_overall(message);
        return None;
    }
    let tokens = tokens(source);
    let mut parser = Parser {
        tokens,
        next: 0,
        source,
        ids: 0,
        depth: 0,
        binds,
    };
    let expr = parser.whole().ok()?;
    let ids = parser.ids;
    source.is_sound().then_some((expr, ids))
}

pub(crate) struct Parser<'s> {
    tokens: Vec<Token>,
    next: usize,
    source: &'s mut Source,
    ids: Id,
    depth: usize,
    binds: bool,
}

/// Making nodes; macros do so too.
impl Parser<'_> {
    pub(crate) fn expr(&mut self, at: Position, node: Node) -> Expr {
        let id = self.ids;
        self.ids += 1;
        let depth = node.depth();
        if depth > MAX_TREE {
            self.source.report_overall("max recursion depth exceeded");
            return Expr {
                id,
                at,
                depth: 0,
                node: Node::Broken,
            };
        }
        Expr { id, at, depth, node }
    }

    pub(crate) fn literal(&mut self, at: Position, literal: Literal) -> Expr {
        self.expr(at, Node::Literal(literal))
    }

    pub(crate) fn ident(&mut self, at: Position, name: &str) -> Expr {
        self.expr(at, Node::Ident(name.to_owned()))
    }

    pub(crate) fn call(&mut self, at: Position, function: &str, target: Option<Expr>, args: Vec<Expr>) -> Expr {
        let function = function.to_owned();
        self.expr(at, Node::Call(Box::new(Call { function, target, args })))
    }

    pub(crate) fn select(&mut self, at: Position, operand: Expr, field: String, is_test: bool) -> Expr {
        self.expr(
            at,
            Node::Select(Box::new(Select {
                operand,
                field,
                is_test,
            })),
        )
    }

    /// Whether `cel.bind` names values.
    pub(crate) fn binds(&self) -> bool {
        self.binds
    }

    /// How many nodes there are so far.
    pub(crate) fn nodes(&self) -> usize {
        self.ids
    }

    /// Reports a problem that does not stop reading.
    pub(crate) fn refuse(&mut self, at: Position, message: impl Into<String>) -> Expr {
        self.source.report(at, message);
        self.expr(at, Node::Broken)
    }
}

/// Tokens and what is wrong with them.
impl Parser<'_> {
    fn token(&self) -> &Token {
        // There is always an end, and nothing passes it.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn after(&self, ahead: usize) -> &Token {
        &self.tokens[(self.next + ahead).min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token {
        let token = self.token().clone();
        if token.kind != Kind::End {
            self.next += 1;
        }
        token
    }

    fn take_if(&mut self, sign: &str) -> Option<Token> {
        self.token().is(sign).then(|| self.take())
    }

    /// Takes `sign`. A bracket that is missing is thought to be there when what follows can follow it.
    fn expect(&mut self, sign: &str) -> Parsed<Token> {
        if self.token().is(sign) {
            return Ok(self.take());
        }
        let (at, shown) = (self.token().at, self.token().shown());
        if self.after(1).is(sign) {
            self.syntax(at, format!("extraneous input {shown} expecting '{sign}'"));
            self.take();
            return Ok(self.take());
        }
        if sign == ")" && self.follows_expression() {
            self.syntax(at, format!("missing ')' at {shown}"));
            return Ok(Token {
                kind: Kind::Sign,
                at,
                text: sign.to_owned(),
            });
        }
        self.syntax(at, format!("mismatched input {shown} expecting '{sign}'"));
        Err(Stopped)
    }

    fn follows_expression(&self) -> bool {
        const FOLLOWING: [&str; 23] = [
            "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "}", ")", ".", ",", "-", "?", ":", "+", "*",
            "/", "%", "{",
        ];
        let token = self.token();
        token.kind == Kind::End || FOLLOWING.iter().any(|sign| token.is(sign))
    }

    fn starts_expression(token: &Token) -> bool {
        match token.kind {
            Kind::Sign => ["[", "{", "(", ".", "-", "!"].contains(&token.text.as_str()),
            Kind::Word => token.text != "in",
            Kind::End | Kind::EscapedIdentifier => false,
            _ => true,
        }
    }

    /// An expression must begin here; `expected` lists what may stand here instead, and all of that.
    fn demand_expression(&mut self, expected: &str) -> Parsed<()> {
        if Self::starts_expression(self.token()) {
            return Ok(());
        }
        let (at, shown) = (self.token().at, self.token().shown());
        if self.token().kind != Kind::End && Self::starts_expression(self.after(1)) {
            self.syntax(at, format!("extraneous input {shown} expecting {{{expected}}}"));
            self.take();
            return Ok(());
        }
        self.syntax(at, format!("mismatched input {shown} expecting {{{expected}}}"));
        Err(Stopped)
    }

    fn syntax(&mut self, at: Position, message: impl std::fmt::Display) {
        self.source.report(at, format!("Syntax error: {message}"));
    }

    fn too_deep<T>(&mut self) -> Parsed<T> {
        self.source
            .report_overall(format!("expression recursion limit exceeded: {MAX_DEPTH}"));
        Err(Stopped)
    }
}

/// Operators, weakest first.
impl Parser<'_> {
    fn whole(&mut self) -> Parsed {
        let expr = self.expression()?;
        if self.token().kind == Kind::End {
            return Ok(expr);
        }
        let (at, shown) = (self.token().at, self.token().shown());
        let is_last = self.after(1).kind == Kind::End;
        let what = if is_last { "extraneous" } else { "mismatched" };
        self.syntax(at, format!("{what} input {shown} expecting <EOF>"));
        Err(Stopped)
    }

    fn expression(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.too_deep();
        }
        let mut expr = self.operation(0)?;
        if let Some(question) = self.take_if("?") {
            let yes = self.operation(0)?;
            self.expect(":")?;
            let no = self.expression()?;
            expr = self.call(question.at, operator::CONDITIONAL, None, vec![expr, yes, no]);
        }
        self.depth -= 1;
        Ok(expr)
    }

    /// Operands with operators between them that bind at least as strongly as `weakest`.
    fn operation(&mut self, weakest: usize) -> Parsed {
        let mut left = self.unary()?;
        let mut length = 0;
        while let Some((strength, function)) = self.operator().filter(|(strength, _)| *strength >= weakest) {
            length += 1;
            if length > MAX_DEPTH {
                return self.too_deep();
            }
            if strength <= AND {
                left = self.logical(left, strength, function)?;
                continue;
            }
            let at = self.take().at;
            let right = self.operation(strength + 1)?;
            left = self.call(at, function, None, vec![left, right]);
        }
        Ok(left)
    }

    /// The operator that comes next, and how strongly it binds.
    fn operator(&self) -> Option<(usize, &'static str)> {
        let token = self.token();
        let found = OPERATORS.iter().find(|(_, sign, _)| token.is(sign))?;
        Some((found.0, found.2))
    }

    fn logical(&mut self, first: Expr, strength: usize, function: &'static str) -> Parsed {
        let mut terms = vec![first];
        let mut signs = Vec::new();
        while self.operator().is_some_and(|(_, next)| next == function) {
            signs.push(self.take().at);
            terms.push(self.operation(strength + 1)?);
        }
        let mut terms = terms.into_iter();
        Ok(self.balanced(function, &mut terms, &signs))
    }

    /// Many terms become a balanced tree, so that a long list of conditions is no deep one.
    fn balanced(&mut self, function: &str, terms: &mut std::vec::IntoIter<Expr>, signs: &[Position]) -> Expr {
        match signs.len() {
            0 => terms.next().unwrap_or_else(|| self.expr(0, Node::Broken)),
            count => {
                let middle = count / 2;
                let left = self.balanced(function, terms, &signs[..middle]);
                let right = self.balanced(function, terms, &signs[middle + 1..]);
                self.call(signs[middle], function, None, vec![left, right])
            }
        }
    }

    fn unary(&mut self) -> Parsed {
        self.demand_expression(STARTS)?;
        for (sign, function) in [("!", operator::NOT), ("-", operator::NEGATE)] {
            if !self.token().is(sign) || self.is_negative_number() {
                continue;
            }
            let at = self.token().at;
            let mut is_odd = false;
            while self.take_if(sign).is_some() {
                is_odd = !is_odd;
            }
            let operand = self.member()?;
            return Ok(match is_odd {
                true => self.call(at, function, None, vec![operand]),
                false => operand,
            });
        }
        self.member()
    }

    fn is_negative_number(&self) -> bool {
        self.token().is("-") && matches!(self.after(1).kind, Kind::Int | Kind::Float)
    }

    /// What stands behind an expression: fields, calls, indexes.
    fn member(&mut self) -> Parsed {
        let mut expr = self.primary()?;
        let mut length = 0;
        loop {
            length += 1;
            if length > MAX_DEPTH {
                return self.too_deep();
            }
            if let Some(dot) = self.take_if(".") {
                expr = self.field_or_call(expr, dot.at)?;
            } else if let Some(bracket) = self.take_if("[") {
                let is_optional = self.take_if("?").is_some();
                let index = self.expression()?;
                self.expect("]")?;
                let function = if is_optional {
                    operator::OPTIONAL_INDEX
                } else {
                    operator::INDEX
                };
                expr = self.call(bracket.at, function, None, vec![expr, index]);
            } else {
                return Ok(expr);
            }
        }
    }

    fn field_or_call(&mut self, operand: Expr, dot: Position) -> Parsed {
        let is_optional = self.take_if("?").is_some();
        let name = self.token().clone();
        match name.kind {
            Kind::Identifier => {
                self.take();
            }
            Kind::EscapedIdentifier => {
                self.take();
                let field = name.text.trim_matches('`').to_owned();
                return Ok(self.field(operand, dot, &name, field, is_optional));
            }
            Kind::Word if name.text != "in" && !is_optional => {
                self.syntax(
                    name.at,
                    format!("mismatched input '{}' expecting IDENTIFIER", name.text),
                );
                return Err(Stopped);
            }
            _ => {
                let sign = if is_optional { "?" } else { "." };
                self.syntax(name.at, format!("no viable alternative at input '{sign}{}'", name.text));
                return Err(Stopped);
            }
        }
        if !is_optional && let Some(bracket) = self.take_if("(") {
            let args = self.arguments()?;
            return Ok(macros::member_call(self, bracket.at, &name.text, operand, args));
        }
        let field = name.text.clone();
        Ok(self.field(operand, dot, &name, field, is_optional))
    }

    fn field(&mut self, operand: Expr, dot: Position, name: &Token, field: String, is_optional: bool) -> Expr {
        if is_optional {
            let field = self.literal(name.at, Literal::String(field));
            return self.call(dot, operator::OPTIONAL_SELECT, None, vec![operand, field]);
        }
        self.select(dot, operand, field, false)
    }
}
