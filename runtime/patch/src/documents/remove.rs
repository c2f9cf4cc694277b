//! Takes fields out of a document.

use serde_json::Value;

use super::schema::{Parts, Schema};
use crate::fields::{PathElement, Set};

/// The document without the members of `fields`. An object or list that loses all that it held as members becomes null; one
/// that holds what became empty stays.
pub(crate) fn remove(document: &Value, fields: &Set<'_>, schema: Schema<'_>) -> Value {
    match (schema.parts(document), document) {
        (Parts::Entries, Value::Object(entries)) => {
            let mut kept = serde_json::Map::new();
            for (name, value) in entries {
                let step = PathElement::field(name.as_str());
                if fields.contains(std::slice::from_ref(&step)) {
                    continue;
                }
                let value = match fields.below(&step) {
                    Some(below) => emptied(value, below, schema.entry(name).schema()),
                    None => value.clone(),
                };
                kept.insert(name.clone(), value);
            }
            if kept.is_empty() {
                Value::Null
            } else {
                Value::Object(kept)
            }
        }
        (parts @ (Parts::Values | Parts::Keyed(_)), Value::Array(elements)) => {
            let mut kept = Vec::with_capacity(elements.len());
            for element in elements {
                let step = schema.step(parts, element).ok();
                if step
                    .as_ref()
                    .is_some_and(|step| fields.contains(std::slice::from_ref(step)))
                {
                    continue;
                }
                let below = step.as_ref().and_then(|step| fields.below(step));
                kept.push(match below {
                    Some(below) => emptied(element, below, schema.element()),
                    None => element.clone(),
                });
            }
            if kept.is_empty() {
                Value::Null
            } else {
                Value::Array(kept)
            }
        }
        // A value that is owned as a whole has no parts with paths, so a set that reaches into it means all of it.
        (Parts::None, Value::Object(_) | Value::Array(_)) => Value::Null,
        _ => document.clone(),
    }
}

/// As [`remove`], of something that is not removed itself: it stays, empty if need be.
fn emptied(value: &Value, fields: &Set<'_>, schema: Schema<'_>) -> Value {
    match (remove(value, fields, schema), value) {
        (Value::Null, Value::Object(_)) => Value::Object(serde_json::Map::new()),
        (Value::Null, Value::Array(_)) => Value::Array(Vec::new()),
        (left, _) => left,
    }
}

/// The same set, with the declared fields that members lie below as members too.
pub(crate) fn with_declared(set: &Set<'_>, schema: Schema<'_>) -> Set<'static> {
    let mut declared = Set::new();
    set.each_step(&mut |step, member, below| {
        let (is_declared, schema) = match step {
            PathElement::Field(name) => {
                let entry = schema.entry(name);
                (entry.is_field(), entry.schema())
            }
            _ => (false, schema.element()),
        };
        let member = member || (is_declared && !below.is_empty());
        declared.push(step.clone().into_owned(), member, with_declared(below, schema));
    });
    declared
}
