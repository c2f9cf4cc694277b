//! Values of keys: none, a literal, a word, a path or a list.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, LitStr, Path, Token};

use super::{Entry, Grammar, Spanned, Texts, Written, entries, one_of};
use crate::diagnostics::Diagnostics;
use crate::{json, names};

impl Entry {
    /// Parses a key without a value.
    pub(crate) fn flag(&self, diagnostics: &Diagnostics) -> Option<Span> {
        match &self.written {
            Written::Alone => {}
            Written::Equals(_, span) => self.takes_no_value(*span, diagnostics),
            Written::List(group) => self.takes_no_value(group.span(), diagnostics),
        }
        Some(self.span)
    }

    fn takes_no_value(&self, at: Span, diagnostics: &Diagnostics) {
        let problem = format_args!("`{}` takes no value", self.key);
        diagnostics.report(at, problem, format_args!("write `{}` alone, or leave it out", self.key));
    }

    /// Parses `key = "text"`.
    pub(crate) fn text(&self, example: &str, diagnostics: &Diagnostics) -> Option<Spanned<String>> {
        let text: LitStr = self.parse("text in quotes", &format!("{example:?}"), diagnostics)?;
        Some(Spanned {
            value: text.value(),
            span: text.span(),
        })
    }

    /// Parses `key = 1`, within the range of `T`.
    pub(crate) fn integer<T: TryFrom<i128>>(&self, diagnostics: &Diagnostics) -> Option<Spanned<T>> {
        let literal: Lit = self.parse("an integer", "1", diagnostics)?;
        let Lit::Int(number) = &literal else {
            self.wrong_value(literal.span(), "an integer", "1", diagnostics);
            return None;
        };
        let value = number
            .base10_parse::<i128>()
            .ok()
            .and_then(|value| T::try_from(value).ok());
        if value.is_none() || !number.suffix().is_empty() {
            let problem = format_args!("`{}` cannot be {number}", self.key);
            diagnostics.report(
                literal.span(),
                problem,
                "write a number without suffix that fits the key",
            );
            return None;
        }
        value.map(|value| Spanned {
            value,
            span: literal.span(),
        })
    }

    /// Parses `key = literal` or `key = json("...")`; returns JSON.
    pub(crate) fn json(&self, diagnostics: &Diagnostics) -> Option<Spanned<String>> {
        const EXPECTED: &str = "a literal or `json(\"...\")`";
        let (tokens, _) = self.tokens(EXPECTED, "\"Always\"", diagnostics)?;
        if let Ok(text) = json_call.parse2(tokens.clone()) {
            if !json::is_valid(&text.value()) {
                diagnostics.report(
                    text.span(),
                    "this is not JSON",
                    "write one JSON value, such as `json(\"[1, 2]\")`",
                );
                return None;
            }
            return Some(Spanned {
                value: text.value(),
                span: text.span(),
            });
        }
        let literal: Lit = self.parse(EXPECTED, "\"Always\"", diagnostics)?;
        let value = match &literal {
            Lit::Str(text) => json::string(&text.value()),
            Lit::Bool(value) => value.value.to_string(),
            Lit::Int(number) if number.suffix().is_empty() => number.base10_digits().to_owned(),
            Lit::Float(number) if number.suffix().is_empty() => number.base10_digits().to_owned(),
            _ => {
                self.wrong_value(literal.span(), "text, a number or a boolean", "\"Always\"", diagnostics);
                return None;
            }
        };
        Some(Spanned {
            value,
            span: literal.span(),
        })
    }

    /// Parses `key = word`, one of `words`; returns its index.
    pub(crate) fn word(&self, words: &[&str], diagnostics: &Diagnostics) -> Option<Spanned<usize>> {
        let expected = one_of(words.iter().copied());
        let word: Ident = self.parse(&expected, words[0], diagnostics)?;
        pick(&word, words, &self.key, diagnostics)
    }

    /// Parses `key(word, word)`, each one of `words`; returns their indexes.
    pub(crate) fn words(&self, words: &[&str], diagnostics: &Diagnostics) -> Vec<Spanned<usize>> {
        let found = self.list::<Ident>("words", words[0], diagnostics);
        found
            .iter()
            .filter_map(|word| pick(word, words, &self.key, diagnostics))
            .collect()
    }

    /// Parses `key("a", "b")` with at least one text.
    pub(crate) fn texts(&self, example: &str, diagnostics: &Diagnostics) -> Vec<Spanned<String>> {
        let texts = self.list::<LitStr>("texts in quotes", &format!("{example:?}"), diagnostics);
        texts
            .iter()
            .map(|text| Spanned {
                value: text.value(),
                span: text.span(),
            })
            .collect()
    }

    /// Parses `key = path::to::item`.
    pub(crate) fn path(&self, example: &str, diagnostics: &Diagnostics) -> Option<Path> {
        self.parse("a path", example, diagnostics)
    }

    /// Parses `key("a", "b")` with at least one text, or `key = path::to::CONSTANT`.
    pub(crate) fn texts_or_path(&self, text: &str, constant: &str, diagnostics: &Diagnostics) -> Option<Texts> {
        let Written::Equals(tokens, equals) = &self.written else {
            return Some(Texts::Literals(self.texts(text, diagnostics)));
        };
        let parsed = syn::parse2(tokens.clone()).ok();
        if parsed.is_none() {
            let first = tokens.clone().into_iter().next();
            let key = &self.key;
            diagnostics.report(
                first.map_or(*equals, |token| token.span()),
                format_args!("`{key}` takes texts in parentheses, or the path of a constant"),
                format_args!("write `{key}({text:?})` or `{key} = {constant}`"),
            );
        }
        parsed.map(Texts::Constant)
    }

    /// Parses `key(key = value, ...)`; `None` if the key has no list.
    pub(crate) fn nested(&self, grammar: &Grammar, diagnostics: &Diagnostics) -> Option<Vec<Entry>> {
        match &self.written {
            Written::List(group) => Some(entries(group.stream(), grammar, diagnostics)),
            Written::Alone | Written::Equals(..) => {
                let problem = format_args!("`{}` needs keys in parentheses", self.key);
                diagnostics.report(self.span, problem, format_args!("write `{}`", grammar.usage));
                None
            }
        }
    }

    /// True if the key has no value.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.written, Written::Alone)
    }

    fn tokens(&self, expected: &str, example: &str, diagnostics: &Diagnostics) -> Option<(TokenStream, Span)> {
        let at = match &self.written {
            Written::Equals(tokens, equals) if !tokens.is_empty() => return Some((tokens.clone(), *equals)),
            Written::Equals(_, equals) => *equals,
            Written::Alone => self.span,
            Written::List(group) => group.span(),
        };
        self.wrong_value(at, expected, example, diagnostics);
        None
    }

    fn parse<T: Parse>(&self, expected: &str, example: &str, diagnostics: &Diagnostics) -> Option<T> {
        let (tokens, _) = self.tokens(expected, example, diagnostics)?;
        let first = tokens
            .clone()
            .into_iter()
            .next()
            .map_or(self.span, |token| token.span());
        let parsed = syn::parse2::<T>(tokens).ok();
        if parsed.is_none() {
            self.wrong_value(first, expected, example, diagnostics);
        }
        parsed
    }

    fn wrong_value(&self, at: Span, expected: &str, example: &str, diagnostics: &Diagnostics) {
        let key = &self.key;
        diagnostics.report(
            at,
            format_args!("`{key}` takes {expected}"),
            format_args!("write `{key} = {example}`"),
        );
    }

    fn list<T: Parse>(&self, expected: &str, example: &str, diagnostics: &Diagnostics) -> Vec<T> {
        let at = match &self.written {
            Written::List(group) => {
                let parsed = Punctuated::<T, Token![,]>::parse_terminated.parse2(group.stream());
                match parsed {
                    Ok(list) if !list.is_empty() => return list.into_iter().collect(),
                    Ok(_) => group.span(),
                    Err(error) => error.span(),
                }
            }
            Written::Alone => self.span,
            Written::Equals(_, equals) => *equals,
        };
        let key = &self.key;
        let problem = format_args!("`{key}` takes {expected} in parentheses");
        diagnostics.report(at, problem, format_args!("write `{key}({example})`"));
        Vec::new()
    }
}

/// Parses `json("...")`.
fn json_call(input: syn::parse::ParseStream<'_>) -> syn::Result<LitStr> {
    let name: Ident = input.parse()?;
    if name != "json" {
        return Err(input.error("expected `json`"));
    }
    let content;
    syn::parenthesized!(content in input);
    content.parse()
}

fn pick(word: &Ident, words: &[&str], key: &str, diagnostics: &Diagnostics) -> Option<Spanned<usize>> {
    let found = word.to_string();
    if let Some(index) = words.iter().position(|known| *known == found) {
        return Some(Spanned {
            value: index,
            span: word.span(),
        });
    }
    let problem = format_args!("`{key}` cannot be `{found}`");
    match names::nearest(&found, words.iter().copied()) {
        Some(near) => diagnostics.report(word.span(), problem, format_args!("did you mean `{near}`?")),
        None => diagnostics.report(
            word.span(),
            problem,
            format_args!("use {}", one_of(words.iter().copied())),
        ),
    }
    None
}
