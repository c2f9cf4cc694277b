//! The keys of an attribute: `key`, `key = value` and `key(values)`, separated by commas.
//!
//! Each entry is parsed separately, so that an error in one does not hide errors in the next.

mod value;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::{Attribute, Meta, Path};

use crate::diagnostics::Diagnostics;
use crate::names;

/// A value and the token to point at in errors.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl<T> Spanned<T> {
    /// Replaces the value, with the same token.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            value: change(self.value),
            span: self.span,
        }
    }
}

/// Texts, as written or by the path of a constant.
#[derive(Clone, Debug)]
pub(crate) enum Texts {
    /// `key("a", "b")`; empty if the parser has reported the list.
    Literals(Vec<Spanned<String>>),
    /// `key = path::to::CONSTANT`
    Constant(Path),
}

impl Texts {
    /// Returns the texts as written; none for a path.
    pub(crate) fn literals(&self) -> &[Spanned<String>] {
        match self {
            Texts::Literals(texts) => texts,
            Texts::Constant(_) => &[],
        }
    }
}

/// The grammar of an attribute or a nested list: its name and its keys.
pub(crate) struct Grammar {
    /// The attribute as the user writes it, e.g. `#[field(...)]`.
    pub(crate) usage: &'static str,
    /// Keys that can occur once.
    pub(crate) once: &'static [&'static str],
    /// Keys that can occur several times.
    pub(crate) repeated: &'static [&'static str],
    /// Keys that users often try, and their replacements.
    pub(crate) instead: &'static [(&'static str, &'static str)],
}

/// A key with its value.
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) span: Span,
    written: Written,
}

enum Written {
    /// `key`
    Alone,
    /// `key = tokens`; the span of `=` stands in for missing tokens.
    Equals(TokenStream, Span),
    /// `key(tokens)`
    List(Group),
}

/// Returns the entries of all attributes called `name`. Reports and omits unknown and repeated keys.
pub(crate) fn of_attributes(
    attrs: &[Attribute],
    name: &str,
    grammar: &Grammar,
    diagnostics: &Diagnostics,
) -> Vec<Entry> {
    let mut tokens = TokenStream::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        match &attr.meta {
            Meta::List(list) => {
                tokens.extend(list.tokens.clone());
                // Several attributes are parsed as one list; superfluous commas are valid.
                tokens.extend([TokenTree::from(proc_macro2::Punct::new(
                    ',',
                    proc_macro2::Spacing::Alone,
                ))]);
            }
            Meta::Path(_) | Meta::NameValue(_) => diagnostics.report(
                attr.path().segments[0].ident.span(),
                format_args!("`#[{name}]` needs keys in parentheses"),
                format_args!("write `{}`", grammar.usage),
            ),
        }
    }
    entries(tokens, grammar, diagnostics)
}

/// Parses the entries of a token list.
fn entries(tokens: TokenStream, grammar: &Grammar, diagnostics: &Diagnostics) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for part in split_at_commas(tokens) {
        let Some(entry) = Entry::read(part, grammar, diagnostics) else {
            continue;
        };
        let key = entry.key.as_str();
        if grammar.repeated.contains(&key) {
            entries.push(entry);
        } else if !grammar.once.contains(&key) {
            report_unknown(&entry, grammar, diagnostics);
        } else if entries.iter().any(|other| other.key == key) {
            diagnostics.report(
                entry.span,
                format_args!("`{key}` is written twice in `{}`", grammar.usage),
                "keep one of them",
            );
        } else {
            entries.push(entry);
        }
    }
    entries
}

fn report_unknown(entry: &Entry, grammar: &Grammar, diagnostics: &Diagnostics) {
    let known = || grammar.once.iter().chain(grammar.repeated).copied();
    let problem = format!("unknown key `{}` in `{}`", entry.key, grammar.usage);
    if let Some((_, instead)) = grammar.instead.iter().find(|(key, _)| *key == entry.key) {
        diagnostics.report(entry.span, problem, instead);
        return;
    }
    match names::nearest(&entry.key, known()) {
        Some(near) => diagnostics.report(entry.span, problem, format_args!("did you mean `{near}`?")),
        None => diagnostics.report(entry.span, problem, format_args!("the keys are {}", all_of(known()))),
    }
}

/// Returns "`a`, `b` and `c`".
pub(crate) fn all_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    list_of(words, "and")
}

/// Returns "`a`, `b` or `c`".
pub(crate) fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    list_of(words, "or")
}

fn list_of<'a>(words: impl IntoIterator<Item = &'a str>, before_last: &str) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {before_last} {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// Splits tokens at commas; empty parts are omitted.
fn split_at_commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => parts.push(Vec::new()),
            token => parts.last_mut().expect("the list of parts starts with one").push(token),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

impl Entry {
    /// Parses the key and stores the tokens of its value.
    fn read(part: Vec<TokenTree>, grammar: &Grammar, diagnostics: &Diagnostics) -> Option<Self> {
        let mut tokens = part.into_iter();
        let key = match tokens.next()? {
            TokenTree::Ident(key) => key,
            other => {
                let problem = format_args!("expected a key, found `{other}`");
                diagnostics.report(other.span(), problem, format_args!("write `{}`", grammar.usage));
                return None;
            }
        };
        let written = match tokens.next() {
            None => Written::Alone,
            Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => {
                return Some(Self::new(&key, Written::Equals(tokens.collect(), punct.span())));
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => Written::List(group),
            Some(other) => {
                report_surplus(&key, &other, diagnostics);
                return None;
            }
        };
        if let Some(other) = tokens.next() {
            report_surplus(&key, &other, diagnostics);
            return None;
        }
        Some(Self::new(&key, written))
    }

    fn new(key: &Ident, written: Written) -> Self {
        Self {
            key: key.to_string(),
            span: key.span(),
            written,
        }
    }
}

fn report_surplus(key: &Ident, found: &TokenTree, diagnostics: &Diagnostics) {
    diagnostics.report(
        found.span(),
        format_args!("unexpected `{found}` behind `{key}`"),
        "separate keys with commas; a value stands behind `=` or in parentheses",
    );
}
