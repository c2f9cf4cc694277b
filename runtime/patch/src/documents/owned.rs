//! The set of fields that a document holds.

use planesmith_wire::sorting::sort_by;
use serde_json::{Map, Value};

use super::schema::{Entry, Parts, Schema};
use crate::fields::{PathElement, Set};

/// The fields that a document has, which its applier manages.
///
/// Leaves are members, and so are elements of lists, entries of maps, and objects that hold nothing. An element that
/// stands more than once is a member without anything below it.
pub(crate) fn owned<'a>(document: &'a Value, schema: Schema<'a>) -> Set<'a> {
    let mut set = Set::new();
    if let Value::Object(entries) = document {
        collect_entries(entries, schema, &mut set);
    }
    set
}

fn collect_entries<'a>(entries: &'a Map<String, Value>, schema: Schema<'a>, set: &mut Set<'a>) {
    for (name, value) in entries {
        let entry = schema.entry(name);
        let mut below = Set::new();
        let is_leaf = collect(value, entry.schema(), &mut below);
        let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        let member = is_leaf || is_empty || matches!(entry, Entry::Element(_) | Entry::Undeclared);
        set.push(PathElement::field(name), member, below);
    }
    set.settle();
}

/// Returns true if the value is a member as a whole; else its parts are put into `below`.
fn collect<'a>(value: &'a Value, schema: Schema<'a>, below: &mut Set<'a>) -> bool {
    match (schema.parts(value), value) {
        (Parts::None, _) => return true,
        (Parts::Entries, Value::Object(entries)) => collect_entries(entries, schema, below),
        (parts @ (Parts::Values | Parts::Keyed(_)), Value::Array(elements)) => {
            collect_elements(elements, parts, schema, below);
        }
        _ => {}
    }
    false
}

fn collect_elements<'a>(elements: &'a [Value], parts: Parts<'a>, schema: Schema<'a>, set: &mut Set<'a>) {
    let mut steps: Vec<(PathElement<'a>, &'a Value)> = elements
        .iter()
        .filter_map(|element| Some((schema.step(parts, element).ok()?, element)))
        .collect();
    sort_by(&mut steps, |left, right| left.0.cmp(&right.0));
    for same in steps.chunk_by(|left, right| left.0 == right.0) {
        let mut below = Set::new();
        if let [(_, value)] = same {
            collect(value, schema.element(), &mut below);
        }
        set.push(same[0].0.clone(), true, below);
    }
    set.settle();
}
