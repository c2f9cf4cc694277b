//! Primary expressions: names, calls, literals, lists, maps.

use super::{Parsed, Parser, STARTS};
use crate::ast::{Element, Entry, Expr, Field, Literal, Node, Struct};
use crate::identifier::is_reserved;
use crate::lexer::{Kind, Token};
use crate::literal::unquote;

use super::Stopped;
use super::macros;

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Parsed {
        self.demand_expression(STARTS)?;
        if self.token().is("(") {
            self.take();
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.token().is("[") {
            return self.list();
        }
        if self.token().is("{") {
            return self.map();
        }
        if self.token().is(".") || self.token().kind == Kind::Identifier {
            return self.name_or_call();
        }
        self.constant()
    }

    fn name_or_call(&mut self) -> Parsed {
        if let Some(expr) = self.message()? {
            return Ok(expr);
        }
        let dot = self.take_if(".");
        let name = self.token().clone();
        if name.kind != Kind::Identifier {
            self.syntax(name.at, format!("no viable alternative at input '.{}'", name.text));
            return Err(Stopped);
        }
        self.take();
        let start = dot.as_ref().map_or(name.at, |dot| dot.at);
        let called = format!("{}{}", if dot.is_some() { "." } else { "" }, name.text);
        if is_reserved(&name.text) {
            let broken = self.refuse(start, format!("reserved identifier: {}", name.text));
            if self.take_if("(").is_some() {
                self.arguments()?;
            }
            return Ok(broken);
        }
        match self.take_if("(") {
            Some(bracket) => {
                let args = self.arguments()?;
                Ok(macros::global_call(self, bracket.at, &called, args))
            }
            None => Ok(self.ident(name.at, &called)),
        }
    }

    /// Parses `a.b.Name{field: value}`.
    fn message(&mut self) -> Parsed<Option<Expr>> {
        let mut ahead = usize::from(self.token().is("."));
        let mut name = if ahead == 1 { ".".to_owned() } else { String::new() };
        loop {
            let token = self.after(ahead);
            if token.kind != Kind::Identifier {
                return Ok(None);
            }
            name.push_str(&token.text);
            let following = self.after(ahead + 1);
            if following.is("{") {
                break;
            }
            if !following.is(".") {
                return Ok(None);
            }
            name.push('.');
            ahead += 2;
        }
        for _ in 0..=ahead {
            self.take();
        }
        let brace = self.take();
        let mut fields = Vec::new();
        let first = self.token().at;
        while !self.token().is("}") {
            let is_optional = self.take_if("?").is_some();
            let token = self.token().clone();
            if !matches!(token.kind, Kind::Identifier | Kind::EscapedIdentifier) {
                let shown = token.rendered();
                self.syntax(
                    token.at,
                    format!("mismatched input {shown} expecting {{'}}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}}"),
                );
                return Err(Stopped);
            }
            self.take();
            if token.kind == Kind::EscapedIdentifier {
                self.refuse_escape(first);
            }
            let colon = self.expect(":")?;
            let value = self.expression()?;
            fields.push(Field {
                at: colon.at,
                name: token.text,
                value,
                is_optional,
            });
            if self.take_if(",").is_none() {
                break;
            }
        }
        self.close("}")?;
        Ok(Some(
            self.expr(brace.at, Node::Struct(Box::new(Struct { name, fields }))),
        ))
    }

    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        if self.take_if(")").is_some() {
            return Ok(args);
        }
        self.demand_expression(&STARTS.replacen("'(', ", "'(', ')', ", 1))?;
        loop {
            args.push(self.expression()?);
            if self.take_if(",").is_none() {
                self.expect(")")?;
                return Ok(args);
            }
        }
    }

    fn list(&mut self) -> Parsed {
        let bracket = self.take();
        let mut elements = Vec::new();
        while !self.token().is("]") {
            if elements.is_empty() && self.take_if(",").is_some() {
                break;
            }
            let is_optional = self.take_if("?").is_some();
            if elements.is_empty() && !is_optional {
                let expected = STARTS
                    .replacen("'[', ", "'[', ']', ", 1)
                    .replacen("'.', ", "'.', ',', ", 1)
                    .replacen("'!', ", "'!', '?', ", 1);
                self.demand_expression(&expected)?;
            }
            let value = self.expression()?;
            elements.push(Element { value, is_optional });
            if self.take_if(",").is_none() {
                break;
            }
        }
        self.close("]")?;
        Ok(self.expr(bracket.at, Node::List(elements)))
    }

    fn map(&mut self) -> Parsed {
        let brace = self.take();
        let mut entries = Vec::new();
        while !self.token().is("}") {
            if entries.is_empty() && self.take_if(",").is_some() {
                break;
            }
            let is_optional = self.take_if("?").is_some();
            if entries.is_empty() && !is_optional {
                let expected = STARTS
                    .replacen("'{', ", "'{', '}', ", 1)
                    .replacen("'.', ", "'.', ',', ", 1)
                    .replacen("'!', ", "'!', '?', ", 1);
                self.demand_expression(&expected)?;
            }
            let key = self.expression()?;
            self.expect(":")?;
            let value = self.expression()?;
            entries.push(Entry {
                key,
                value,
                is_optional,
            });
            if self.take_if(",").is_none() {
                break;
            }
        }
        self.close("}")?;
        Ok(self.expr(brace.at, Node::Map(entries)))
    }

    /// Consumes the closing bracket of a list or map, where a comma is valid, too.
    fn close(&mut self, bracket: &str) -> Parsed<Token> {
        if self.token().is(bracket) {
            return Ok(self.take());
        }
        let (at, shown) = (self.token().at, self.token().rendered());
        self.syntax(at, format!("mismatched input {shown} expecting {{'{bracket}', ','}}"));
        Err(Stopped)
    }

    fn constant(&mut self) -> Parsed {
        let start = self.token().at;
        let sign = if self.take_if("-").is_some() { "-" } else { "" };
        let token = self.take();
        let literal = match token.kind {
            Kind::Word if token.text == "null" => Ok(Literal::Null),
            Kind::Word => Ok(Literal::Bool(token.text == "true")),
            Kind::Int => integer(sign, &token.text).ok_or_else(|| "invalid int literal".to_owned()),
            Kind::Uint => unsigned(&token.text).ok_or_else(|| "invalid uint literal".to_owned()),
            Kind::Float => format!("{sign}{}", token.text)
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(Literal::Double)
                .ok_or_else(|| "invalid double literal".to_owned()),
            Kind::Bytes => unquote(&token.text[1..], true).map(Literal::Bytes),
            _ => unquote(&token.text, false)
                .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "unable to unescape string".to_owned()))
                .map(Literal::String),
        };
        Ok(match literal {
            Ok(literal) => self.literal(start, literal),
            Err(problem) => self.refuse(start, problem),
        })
    }
}

fn integer(sign: &str, text: &str) -> Option<Literal> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let number = i64::from_str_radix(&format!("{sign}{digits}"), radix);
    number.ok().map(Literal::Int)
}

fn unsigned(text: &str) -> Option<Literal> {
    let text = text.trim_end_matches(['u', 'U']);
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    u64::from_str_radix(digits, radix).ok().map(Literal::Uint)
}
