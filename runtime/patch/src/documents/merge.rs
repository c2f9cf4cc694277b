//! Merges an applied document into the live one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::compare::holds_nothing;
use super::schema::{Parts, Schema};
use crate::fields::PathElement;

/// Returns the live document with the values of the applied one.
///
/// Entries and elements that only one of the two has are kept; atomic values are those of the applied document. Elements
/// keep their positions, as far as the order of the applied elements permits.
pub(crate) fn merge(live: &Value, applied: &Value, schema: Schema<'_>) -> Value {
    let parts = schema.parts(if applied.is_null() { live } else { applied });
    let is_leaf = parts == Parts::None || (holds_nothing(Some(live)) && holds_nothing(Some(applied)));
    match (parts, live, applied) {
        _ if is_leaf => applied.clone(),
        (Parts::Entries, _, Value::Object(_) | Value::Null) if is_entries(live) => {
            merge_entries(live.as_object(), applied.as_object(), schema)
        }
        (Parts::Values | Parts::Keyed(_), Value::Array(_) | Value::Null, Value::Array(_) | Value::Null) => {
            Lists::new(elements(live), elements(applied), parts, schema).merged()
        }
        _ => applied.clone(),
    }
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_entries(value: &Value) -> bool {
    value.is_object() || value.is_null()
}

fn merge_entries(live: Option<&Map<String, Value>>, applied: Option<&Map<String, Value>>, schema: Schema<'_>) -> Value {
    let mut merged = Map::new();
    for (name, live) in live.into_iter().flatten() {
        let value = match applied.and_then(|applied| applied.get(name)) {
            Some(applied) => merge(live, applied, schema.entry(name).schema()),
            None => live.clone(),
        };
        merged.insert(name.clone(), value);
    }
    for (name, applied) in applied.into_iter().flatten() {
        if !merged.contains_key(name) {
            merged.insert(name.clone(), applied.clone());
        }
    }
    Value::Object(merged)
}

/// Two lists of elements with identities.
struct Lists<'a> {
    live: Vec<(PathElement<'a>, &'a Value)>,
    applied: Vec<(PathElement<'a>, &'a Value)>,
    /// Live elements by step; `None` for one that stands more than once, which nothing can be merged with.
    by_step: BTreeMap<PathElement<'a>, Option<&'a Value>>,
    element: Schema<'a>,
}

impl<'a> Lists<'a> {
    fn new(live: &'a [Value], applied: &'a [Value], parts: Parts<'a>, schema: Schema<'a>) -> Self {
        let steps = |side: &'a [Value]| {
            side.iter()
                .filter_map(|element| Some((schema.step(parts, element).ok()?, element)))
                .collect::<Vec<_>>()
        };
        let live = steps(live);
        let mut by_step = BTreeMap::new();
        for (step, element) in &live {
            by_step
                .entry(step.clone())
                .and_modify(|known| *known = None)
                .or_insert(Some(*element));
        }
        Self {
            applied: steps(applied),
            live,
            by_step,
            element: schema.element(),
        }
    }

    /// Walks both lists side by side. An element of both is written where the applied list has it; live elements that
    /// are not applied stay in front of the next shared one.
    fn merged(&self) -> Value {
        let wanted: BTreeSet<&PathElement<'a>> = self.applied.iter().map(|(step, _)| step).collect();
        let mut shared = self
            .applied
            .iter()
            .map(|(step, _)| step)
            .filter(|step| self.by_step.contains_key(*step));
        let mut next_shared = shared.next();
        let mut written: BTreeSet<&PathElement<'a>> = BTreeSet::new();
        let mut out = Vec::with_capacity(self.live.len() + self.applied.len());
        let (mut live, mut applied) = (self.live.iter().peekable(), self.applied.iter().peekable());
        loop {
            if let (Some((left, _)), Some((right, value))) = (live.peek(), applied.peek()) {
                if left == right {
                    written.insert(right);
                    out.push(self.element_of(right, value));
                    live.next();
                    applied.next();
                    next_shared = shared.next();
                    continue;
                }
                // Shared, but not the one whose turn it is: it comes when the applied list gets there.
                if wanted.contains(left) && next_shared.is_some_and(|next| next != left) {
                    live.next();
                    continue;
                }
            }
            match live.peek() {
                Some((step, value)) if !wanted.contains(step) => {
                    out.push((*value).clone());
                    live.next();
                    continue;
                }
                Some((step, _)) if written.contains(step) => {
                    live.next();
                }
                _ => {}
            }
            match applied.next() {
                Some((step, value)) => {
                    written.insert(step);
                    out.push(self.element_of(step, value));
                    if next_shared == Some(step) {
                        next_shared = shared.next();
                    }
                }
                None if live.peek().is_none() => return Value::Array(out),
                None => {}
            }
        }
    }

    fn element_of(&self, step: &PathElement<'a>, applied: &Value) -> Value {
        match self.by_step.get(step) {
            Some(Some(live)) => merge(live, applied, self.element),
            _ => applied.clone(),
        }
    }
}
