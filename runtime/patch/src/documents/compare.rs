//! The difference between two documents.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use planesmith_wire::sorting::sort_by;
use serde_json::{Map, Value};

use super::check::fits;
use super::schema::{Entry, Parts, Schema};
use crate::fields::{PathElement, Set};

/// The values at the top of a document, by name.
pub(crate) type Members<'a> = BTreeMap<&'a str, Cow<'a, Value>>;

/// The fields in which two documents of one type differ. No field is a member of two of the sets.
#[derive(Debug, Default)]
pub(crate) struct Difference<'a> {
    /// Only the first document holds them.
    pub(crate) removed: Set<'a>,
    /// Both hold them, with different values.
    pub(crate) modified: Set<'a>,
    /// Only the second document holds them.
    pub(crate) added: Set<'a>,
    /// True if a document does not match its type. The sets are of no use then.
    pub(crate) has_type_mismatch: bool,
}

impl<'a> Difference<'a> {
    /// The changes from `old` to `new`.
    pub(crate) fn new(old: &'a Value, new: &'a Value, schema: Schema<'a>) -> Self {
        let mut difference = Self::default();
        difference.entries(old.as_object(), new.as_object(), schema);
        difference
    }

    /// The fields that the second document changes or adds.
    pub(crate) fn taken(&self) -> Set<'a> {
        self.modified.clone().union(self.added.clone())
    }

    /// Leaves out fields with all that is below them.
    pub(crate) fn ignore(&mut self, fields: &Set<'_>) {
        self.each_set(|set| set.remove_below(fields));
    }

    pub(crate) fn each_set(&mut self, change: impl Fn(&mut Set<'a>)) {
        for set in [&mut self.removed, &mut self.modified, &mut self.added] {
            change(set);
        }
    }

    /// The same of documents whose members are given one by one.
    pub(crate) fn of_members(old: &'a Members<'a>, new: &'a Members<'a>, schema: Schema<'a>) -> Self {
        let mut difference = Self::default();
        let names: BTreeSet<&'a str> = old.keys().chain(new.keys()).copied().collect();
        for name in names {
            let value = |side: &'a Members<'a>| side.get(name).map(Cow::as_ref);
            difference.entry(name, value(old), value(new), schema);
        }
        difference.settle();
        difference
    }

    fn entries(
        &mut self,
        old: Option<&'a Map<String, Value>>,
        new: Option<&'a Map<String, Value>>,
        schema: Schema<'a>,
    ) {
        let names = old.into_iter().chain(new).flat_map(Map::keys);
        let names: BTreeSet<&'a str> = names.map(String::as_str).collect();
        for name in names {
            let value = |side: Option<&'a Map<String, Value>>| side.and_then(|entries| entries.get(name));
            self.entry(name, value(old), value(new), schema);
        }
        self.settle();
    }

    /// `schema` is that of the object that holds the entry.
    fn entry(&mut self, name: &'a str, old: Option<&'a Value>, new: Option<&'a Value>, schema: Schema<'a>) {
        let entry = schema.entry(name);
        self.has_type_mismatch |= matches!(entry, Entry::Undeclared);
        self.values(&PathElement::field(name), old, new, entry.schema());
    }

    /// At least one of the two is there.
    fn values(&mut self, step: &PathElement<'a>, old: Option<&'a Value>, new: Option<&'a Value>, schema: Schema<'a>) {
        let kind = schema.value_kind();
        self.has_type_mismatch |= [old, new].into_iter().flatten().any(|value| !kind.admits(value));
        let parts = common_parts(old, new, schema);
        let mut below = Self::default();
        let mut own = match (old, new) {
            (Some(_), None) => Some(Change::Removed),
            (None, Some(_)) => Some(Change::Added),
            _ => None,
        };
        // A value that is empty on either side is compared as a whole: that keeps "empty" apart from "null".
        if parts == Parts::None || (holds_nothing(old) && holds_nothing(new)) {
            let is_same = match (old, new) {
                (Some(old), Some(new)) => same(old, new),
                _ => false,
            };
            if let (Some(_), Some(_), false) = (old, new, is_same) {
                own = Some(Change::Modified);
            }
            // Of equal values one is enough.
            let differing = old.filter(|_| !is_same);
            self.has_type_mismatch |= !all_fit(differing.into_iter().chain(new), schema);
        } else if parts == Parts::Entries {
            below.entries(old.and_then(Value::as_object), new.and_then(Value::as_object), schema);
        } else {
            below.elements(elements(old), elements(new), parts, schema);
        }
        self.push(step, own, below);
    }

    /// Elements that stand more than once on a side are looked at as a whole.
    fn elements(&mut self, old: &'a [Value], new: &'a [Value], parts: Parts<'a>, schema: Schema<'a>) {
        let mut all = Vec::with_capacity(old.len() + new.len());
        for (side, is_old) in [(old, true), (new, false)] {
            for element in side {
                match schema.step(parts, element) {
                    Ok(step) => all.push((step, is_old, element)),
                    Err(_) => self.has_type_mismatch = true,
                }
            }
        }
        // Stable: among equal steps the old elements come first, each side in its order.
        sort_by(&mut all, |left, right| left.0.cmp(&right.0));
        for equal in all.chunk_by(|left, right| left.0 == right.0) {
            let (before, after) = equal.split_at(equal.partition_point(|(_, is_old, _)| *is_old));
            let step = equal[0].0.clone();
            let only = |side: &[(PathElement<'a>, bool, &'a Value)]| side.first().map(|(_, _, value)| *value);
            let element = schema.element();
            if before.len() > 1 || after.len() > 1 {
                self.has_type_mismatch |= !all_fit(equal.iter().map(|(_, _, value)| *value), element);
            }
            match (before.len(), after.len()) {
                (0 | 1, 0 | 1) => self.values(&step, only(before), only(after), element),
                (2.., 2..) => {
                    let changed = before.len() != after.len()
                        || before.iter().zip(after).any(|(left, right)| !same(left.2, right.2));
                    self.push(&step, changed.then_some(Change::Modified), Self::default());
                }
                (2.., after_len) => {
                    if after_len == 1 {
                        self.values(&step, None, only(after), element);
                    }
                    self.push(&step, Some(Change::Removed), Self::default());
                }
                (before_len, _) => {
                    if before_len == 1 {
                        self.values(&step, only(before), None, element);
                    }
                    self.push(&step, Some(Change::Added), Self::default());
                }
            }
        }
        self.settle();
    }

    fn push(&mut self, step: &PathElement<'a>, own: Option<Change>, below: Self) {
        self.has_type_mismatch |= below.has_type_mismatch;
        for (set, below, change) in [
            (&mut self.removed, below.removed, Change::Removed),
            (&mut self.modified, below.modified, Change::Modified),
            (&mut self.added, below.added, Change::Added),
        ] {
            let member = own == Some(change);
            if member || !below.is_empty() {
                set.push(step.clone(), member, below);
            }
        }
    }

    fn settle(&mut self) {
        self.removed.settle();
        self.modified.settle();
        self.added.settle();
    }
}

/// The change of a field itself, apart from the fields below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Removed,
    Modified,
    Added,
}

/// True if all values match their type. Only objects and lists are looked into: the callers know the kinds of the values.
fn all_fit<'v>(mut values: impl Iterator<Item = &'v Value>, schema: Schema<'_>) -> bool {
    values.all(|value| !matches!(value, Value::Object(_) | Value::Array(_)) || fits(value, schema))
}

/// The parts by which two values are compared: part by part when both can be.
fn common_parts<'s>(old: Option<&Value>, new: Option<&Value>, schema: Schema<'s>) -> Parts<'s> {
    let parts = |value: Option<&Value>| value.filter(|value| !value.is_null()).map(|value| schema.parts(value));
    match (parts(old), parts(new)) {
        (Some(left), Some(right)) if left != right => Parts::None,
        (Some(parts), _) | (_, Some(parts)) => parts,
        (None, None) => schema.parts(&Value::Null),
    }
}

fn elements(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn holds_nothing(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Array(elements)) => elements.is_empty(),
        Some(Value::Object(entries)) => entries.is_empty(),
        Some(_) => false,
    }
}

/// True if two values are the same; numbers by what they stand for.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left == right,
            _ => left == right || left.as_f64() == right.as_f64(),
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}
