//! The string literals of a file, with the calls and items around them.
//!
//! The walk goes over the tokens of the whole file, so no literal is missed because of its place. It leaves out tests, doc
//! comments and the attributes of lints, whose texts are not read at run time.

use std::ops::Range;

use proc_macro2::{Group, LineColumn, TokenStream, TokenTree};
use syn::Lit;

use super::scope::{Head, Scope};

/// The attributes whose texts are for readers of the code.
const ATTRIBUTES_FOR_DEVELOPERS: [&str; 7] = ["doc", "allow", "expect", "warn", "deny", "forbid", "must_use"];

/// One string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// The text.
    pub(super) value: String,
    /// The calls, attributes and items around it, outermost first.
    pub(super) around: Vec<Scope>,
}

/// Returns the literals among `tokens` that are not in `tests`.
pub(super) fn find(tokens: TokenStream, tests: &[Range<LineColumn>]) -> Vec<Literal> {
    let mut walk = Walk {
        tests,
        around: Vec::new(),
        found: Vec::new(),
    };
    walk.stream(tokens);
    walk.found
}

struct Walk<'a> {
    tests: &'a [Range<LineColumn>],
    around: Vec<Scope>,
    found: Vec<Literal>,
}

impl Walk<'_> {
    fn stream(&mut self, tokens: impl IntoIterator<Item = TokenTree>) {
        let mut head = Head::default();
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => head.ident(&ident),
                TokenTree::Punct(mark) => head.punct(mark.as_char()),
                TokenTree::Literal(literal) => {
                    if !self.is_in_tests(literal.span().start()) {
                        self.literal(&Lit::new(literal), head.constant());
                    }
                    head.end_path();
                }
                TokenTree::Group(group) => {
                    if !self.is_in_tests(group.span_open().start()) {
                        self.group(&group, &head);
                    }
                    head.group(group.delimiter());
                }
            }
        }
    }

    fn is_in_tests(&self, place: LineColumn) -> bool {
        self.tests.iter().any(|test| test.contains(&place))
    }

    fn group(&mut self, group: &Group, head: &Head) {
        let depth = self.around.len();
        let scope = head.scope(group);
        match &scope {
            Some(Scope::Attribute(name)) if ATTRIBUTES_FOR_DEVELOPERS.contains(&name.as_str()) => {}
            Some(Scope::Attribute(_)) => {
                self.around.extend(scope);
                // The attribute's name is no call.
                let name = |token: &TokenTree| matches!(token, TokenTree::Ident(_) | TokenTree::Punct(_));
                self.stream(group.stream().into_iter().skip_while(name));
            }
            _ => {
                self.around.extend(head.constant().into_iter().chain(scope));
                self.stream(group.stream());
            }
        }
        self.around.truncate(depth);
    }

    fn literal(&mut self, literal: &Lit, constant: Option<Scope>) {
        let value = match literal {
            Lit::Str(text) => text.value(),
            Lit::ByteStr(bytes) => String::from_utf8_lossy(&bytes.value()).into_owned(),
            Lit::CStr(text) => text.value().to_string_lossy().into_owned(),
            _ => return,
        };
        let around = self.around.iter().cloned().chain(constant).collect();
        self.found.push(Literal { value, around });
    }
}
