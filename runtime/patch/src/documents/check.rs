//! The check of a document against its type, with the messages of server-side apply.

use std::collections::BTreeSet;

use planesmith_wire::go_format;
use serde_json::{Map, Value};

use super::schema::{Entry, Parts, Schema, ValueKind};
use crate::fields::PathElement;

/// The number of problems that are reported.
const MAX_PROBLEMS: usize = 100;

/// Returns the problems of an applied document; `None` if it matches its type.
pub(crate) fn check(document: &Value, schema: Schema<'_>) -> Option<String> {
    report(document, schema, false)
}

/// Like [`check`], for a live document, in which elements may be repeated.
pub(crate) fn check_live(document: &Value, schema: Schema<'_>) -> Option<String> {
    report(document, schema, true)
}

/// True if [`check_live`] finds no problem. Costs less: it composes no paths and stops at the first problem.
pub(super) fn fits(value: &Value, schema: Schema<'_>) -> bool {
    if !schema.value_kind().admits(value) {
        return false;
    }
    match value {
        Value::Object(entries) => entries.iter().all(|(name, value)| match schema.entry(name) {
            Entry::Field(schema) | Entry::Element(schema) => fits(value, schema),
            Entry::Undeclared => false,
        }),
        Value::Array(elements) => {
            let (parts, schema_of_elements) = (schema.parts(value), schema.element());
            elements.iter().all(|element| {
                (parts == Parts::None || schema.step(parts, element).is_ok()) && fits(element, schema_of_elements)
            })
        }
        _ => true,
    }
}

fn report<'d>(document: &'d Value, schema: Schema<'d>, may_repeat: bool) -> Option<String> {
    let mut check = Check {
        path: Vec::new(),
        problems: Vec::new(),
        may_repeat,
    };
    check.value(document, schema);
    match &check.problems[..] {
        [] => None,
        [only] => Some(only.clone()),
        problems => {
            let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
            Some(format!("errors:{}", lines.concat()))
        }
    }
}

struct Check<'d> {
    path: Vec<PathElement<'d>>,
    problems: Vec<String>,
    may_repeat: bool,
}

impl<'d> Check<'d> {
    fn value(&mut self, value: &'d Value, schema: Schema<'d>) {
        if matches!(schema, Schema::Unknown) {
            return;
        }
        match (schema.value_kind(), value) {
            (expected, value) if !expected.admits(value) => self.problem(&mismatch(expected, value)),
            (_, Value::Object(entries)) => self.entries(entries, schema),
            (_, Value::Array(elements)) => self.elements(elements, value, schema),
            _ => {}
        }
    }

    /// Nothing is said about the fields behind an undeclared one.
    fn entries(&mut self, entries: &'d Map<String, Value>, schema: Schema<'d>) {
        for (name, value) in entries {
            self.path.push(PathElement::field(name));
            let entry = schema.entry(name);
            match entry {
                Entry::Field(schema) | Entry::Element(schema) => self.value(value, schema),
                Entry::Undeclared => self.problem("field not declared in schema"),
            }
            self.path.pop();
            if matches!(entry, Entry::Undeclared) {
                return;
            }
        }
    }

    fn elements(&mut self, elements: &'d [Value], list: &Value, schema: Schema<'d>) {
        let parts = schema.parts(list);
        let mut seen: BTreeSet<PathElement<'d>> = BTreeSet::new();
        for (index, element) in elements.iter().enumerate() {
            let step = if parts == Parts::None {
                PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX))
            } else {
                match schema.step(parts, element) {
                    Ok(step) => step,
                    // Nothing is said about the elements behind it.
                    Err(why) => return self.problem(&format!("element {index}: {why}")),
                }
            };
            if parts != Parts::None && !seen.insert(step.clone()) && !self.may_repeat {
                self.problem(&format!("duplicate entries for key {step}"));
            }
            self.path.push(step);
            self.value(element, schema.element());
            self.path.pop();
        }
    }

    fn problem(&mut self, why: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            let path: String = self.path.iter().map(ToString::to_string).collect();
            self.problems.push(format!("{path}: {why}"));
        }
    }
}

fn mismatch(expected: ValueKind, value: &Value) -> String {
    let rendered = || go_format::value(value);
    match expected {
        ValueKind::Text => format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            go_format::syntax(value, "string")
        ),
        ValueKind::Truth => format!("expected boolean, got &{{{}}}", rendered()),
        ValueKind::Number => format!("expected numeric (int or float), got {}", go_format::type_of(value)),
        ValueKind::Object => format!("expected map, got &{{{}}}", rendered()),
        ValueKind::List => format!("expected list, got &{{{}}}", rendered()),
        ValueKind::Scalar | ValueKind::Any => format!("expected any scalar, got &{{{}}}", rendered()),
    }
}
