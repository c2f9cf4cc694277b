//! The sections of a page, by the readers of the texts.

use super::literal::Literal;
use super::scope::Scope;

/// The readers of a text, as far as the calls and items around it tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    /// Errors: answers to clients, flags, the store, derives.
    Errors,
    /// Warnings in answers to clients.
    Warnings,
    /// Lines of the log.
    Log,
    /// Lines on the terminal.
    Terminal,
    /// Invariants, which only a panic prints.
    Panics,
    /// The help of flags and commands.
    Help,
    /// All others: parts of messages that are put together elsewhere, descriptions, data.
    Other,
}

impl Section {
    /// All sections, in the order of a page.
    pub(super) const ALL: [Self; 7] = [
        Self::Errors,
        Self::Warnings,
        Self::Log,
        Self::Terminal,
        Self::Panics,
        Self::Help,
        Self::Other,
    ];

    /// The heading.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Errors => "Errors",
            Self::Warnings => "Warnings to clients",
            Self::Log => "Log lines",
            Self::Terminal => "Terminal output",
            Self::Panics => "Panics (invariants)",
            Self::Help => "Help of flags and commands",
            Self::Other => "Other texts (parts of messages, descriptions, data)",
        }
    }

    /// Returns the section of a literal: the innermost scope that tells decides.
    pub(super) fn from_literal(literal: &Literal) -> Self {
        let mut scopes = literal.around.iter().rev();
        scopes.find_map(of_scope).unwrap_or(Self::Other)
    }
}

/// Parts of the names of functions and types whose texts are errors, in lower case.
const ERROR_NAMES: [&str; 34] = [
    "bad_gateway",
    "bad_request",
    "badrequest",
    "complain",
    "conflict",
    "cost_limit",
    "damage",
    "denied",
    "deny",
    "duplicate",
    "error",
    "fail",
    "fault",
    "forbid",
    "gone",
    "internal",
    "invalid",
    "malformed",
    "mismatch",
    "mistake",
    "not_acceptable",
    "not_found",
    "not_supported",
    "problem",
    "refus",
    "reject",
    "required",
    "too_many",
    "unauthorized",
    "unavailable",
    "unknown",
    "unreadable",
    "violation",
    "wrong",
];

/// Returns the section of the texts in `scope`; `None` if it does not tell.
pub(super) fn of_scope(scope: &Scope) -> Option<Section> {
    let name = scope.name();
    match scope {
        Scope::Macro(path) => return of_macro(path, name),
        Scope::Attribute(name) => return of_attribute(name),
        Scope::Method(_) if matches!(name, "expect" | "expect_err") => return Some(Section::Panics),
        Scope::Method(_)
            if matches!(
                name,
                "ok_or" | "ok_or_else" | "context" | "with_context" | "map_err" | "report"
            ) =>
        {
            return Some(Section::Errors);
        }
        Scope::Method(_) if matches!(name, "help" | "about" | "long_help" | "after_help") => {
            return Some(Section::Help);
        }
        Scope::Call(_) if name == "Err" => return Some(Section::Errors),
        _ => {}
    }
    let path = scope.qualified().to_lowercase();
    if path.contains("warn") {
        return Some(Section::Warnings);
    }
    ERROR_NAMES
        .iter()
        .any(|part| path.contains(part))
        .then_some(Section::Errors)
}

/// Returns the section of the texts in a macro; `None` if the macro does not tell.
fn of_macro(path: &str, name: &str) -> Option<Section> {
    match name {
        "anyhow" | "bail" | "ensure" | "compile_error" => Some(Section::Errors),
        "error" | "warn" | "info" | "debug" | "trace" | "event" => Some(Section::Log),
        _ if path.starts_with("tracing::") || name.ends_with("_span") => Some(Section::Log),
        "print" | "println" | "eprint" | "eprintln" => Some(Section::Terminal),
        "panic" | "unreachable" | "unimplemented" | "todo" => Some(Section::Panics),
        _ if name.contains("assert") => Some(Section::Panics),
        _ => None,
    }
}

/// Returns the section of the texts in an attribute; `None` if the attribute does not tell.
fn of_attribute(name: &str) -> Option<Section> {
    match name {
        "error" | "diagnostic::on_unimplemented" => Some(Section::Errors),
        "arg" | "command" | "clap" | "group" | "value" => Some(Section::Help),
        _ => None,
    }
}
