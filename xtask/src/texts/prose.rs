//! The distinction between texts that people read and names that programs read.

use super::literal::Literal;
use super::scope::Scope;
use super::section::{self, Section};

/// The macros, functions and methods that make texts or pass them on: the code around them shows the purpose of a text.
const TRANSPARENT: [&str; 38] = [
    "Some",
    "Ok",
    "Err",
    "Box::new",
    "Arc::from",
    "Arc::new",
    "Cow::Borrowed",
    "Cow::Owned",
    "String::from",
    "concat",
    "write",
    "writeln",
    "format",
    "format_args",
    "vec",
    "map",
    "map_or",
    "map_or_else",
    "and_then",
    "then",
    "then_some",
    "unwrap_or",
    "unwrap_or_else",
    "unwrap_or_default",
    "push",
    "push_str",
    "write_str",
    "write_fmt",
    "extend",
    "from_fn",
    "replace",
    "ok_or",
    "ok_or_else",
    "map_err",
    "or_else",
    "filter_map",
    "for_each",
    "fmt",
];

/// True if a person may read `literal`.
///
/// A text has a blank, and a letter outside of placeholders. Literals of one word are names, paths and values, except in calls
/// that take nothing but messages. So the single words that functions put together to a message are not found.
pub(super) fn is_text(literal: &Literal, section: Section) -> bool {
    let visible = without_placeholders(&literal.value);
    let has_letter = visible.contains(char::is_alphabetic);
    has_letter && (is_message(literal, section) || literal.value.contains(char::is_whitespace))
}

/// True if the innermost call takes nothing but messages.
fn is_message(literal: &Literal, section: Section) -> bool {
    let Some(scope) = literal.around.last() else {
        return false;
    };
    let name = scope.name();
    match scope {
        Scope::Macro(_) if matches!(name, "format" | "format_args" | "write" | "writeln") => section == Section::Errors,
        Scope::Macro(_) => matches!(
            section::of_scope(scope),
            Some(Section::Errors | Section::Log | Section::Terminal)
        ),
        Scope::Attribute(name) => name == "error",
        Scope::Call(_) => name == "Err",
        Scope::Method(_) => matches!(name, "ok_or" | "context" | "expect"),
        Scope::Item(..) => false,
    }
}

/// Returns `text` without the placeholders of format strings, such as `{name:?}`.
fn without_placeholders(text: &str) -> String {
    let mut rest = text;
    let mut visible = String::with_capacity(text.len());
    while let Some((before, behind)) = rest.split_once('{') {
        visible.push_str(before);
        let inside = behind.split(['{', '}', '"', '\'']).next().unwrap_or_default();
        let closes = behind[inside.len()..].starts_with('}') && !inside.contains(char::is_whitespace);
        rest = if closes { &behind[inside.len() + 1..] } else { behind };
    }
    visible.push_str(rest);
    visible
}

/// Returns the call, attribute or item that says what a literal is for.
pub(super) fn label(literal: &Literal) -> String {
    let says = |scope: &&Scope| !TRANSPARENT.contains(&scope.name()) && !TRANSPARENT.contains(&scope.qualified());
    let mut scopes = literal.around.iter().rev();
    scopes.find(says).map_or_else(|| "file".to_owned(), ToString::to_string)
}
