//! Adapts sets of fields to schemas that changed since the sets were written.
//!
//! If a value has become atomic, a manager of a field in it owns the whole value. If an atomic value has become granular,
//! nothing changes: a member without children has the same meaning as before.

use std::collections::HashMap;

use super::entries::Entries;
use crate::documents::{KindSchema, Schema};
use crate::fields::{PathElement, Set};

/// Replaces fields in values that have become atomic by the values, in all entries. `schema_of` returns the type of a
/// version; entries of versions that do not exist any more are unchanged.
pub(crate) fn reconcile(entries: &mut Entries<'_>, schema_of: &dyn Fn(&str) -> Option<KindSchema>) {
    let mut schemas: HashMap<String, Option<KindSchema>> = HashMap::new();
    entries.retain(|entry| {
        if !schemas.contains_key(entry.api_version.as_ref()) {
            schemas.insert(entry.api_version.to_string(), schema_of(&entry.api_version));
        }
        if let Some(Some(schema)) = schemas.get(entry.api_version.as_ref()) {
            let closed = closed(&entry.set, schema.get());
            entry.close(closed);
        }
        true
    });
}

/// The fields that stand as a whole although the set has members below them.
fn closed(set: &Set<'_>, schema: Schema<'_>) -> Set<'static> {
    let mut found = Set::new();
    set.each_step(&mut |step, _, below| {
        if below.is_empty() {
            return;
        }
        let schema = match step {
            PathElement::Field(name) => schema.entry(name).schema(),
            PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_) => schema.element(),
        };
        let is_whole = schema.is_whole();
        let below = if is_whole { Set::new() } else { closed(below, schema) };
        if is_whole || !below.is_empty() {
            found.push(step.clone().into_owned(), is_whole, below);
        }
    });
    found.settle();
    found
}
