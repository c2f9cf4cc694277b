//! The changes of a write: the fields that it removed, modified and added.

use std::borrow::Cow;

use planesmith_machinery::value::{List, Map, Struct, Value, View, equal};
use planesmith_wire::sorting::sort_by;

use super::element::PathElement;
use super::relation::{Relation, keyed_element, set_element};
use super::set::Set;

/// The difference of two objects of one type. No field is a member of two of the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison<'a> {
    /// Fields that only the first object holds.
    pub removed: Set<'a>,
    /// Fields that both hold with different values.
    pub modified: Set<'a>,
    /// Fields that only the second object holds.
    pub added: Set<'a>,
}

impl Comparison<'_> {
    /// True if the objects hold the same.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }
}

/// Fields that are left out of a comparison, with all that is below them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignored<'i> {
    /// Names of ignored fields.
    pub fields: &'i [&'i str],
    /// Names of fields that are compared but for some of the fields below them.
    pub below: &'i [(&'i str, Ignored<'i>)],
}

impl Ignored<'_> {
    /// Nothing is left out.
    pub const NOTHING: Ignored<'static> = Ignored {
        fields: &[],
        below: &[],
    };

    fn below(&self, field: &str) -> Self {
        self.below.iter().find(|(name, _)| *name == field).map_or(
            Self {
                fields: &[],
                below: &[],
            },
            |(_, below)| *below,
        )
    }
}

/// Compares two objects of one type, but for the ignored fields.
#[must_use]
pub fn compare<'a>(old: &'a dyn Struct, new: &'a dyn Struct, ignored: &Ignored<'_>) -> Comparison<'a> {
    let mut out = Comparison::default();
    structs(Some(old), Some(new), ignored, &mut out);
    out.settle();
    out
}

/// The change of a field itself, apart from the fields below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    Removed,
    Modified,
    Added,
}

impl Change {
    fn of_presence(old: bool, new: bool) -> Self {
        match (old, new) {
            (true, false) => Change::Removed,
            (false, true) => Change::Added,
            _ => Change::None,
        }
    }
}

impl<'a> Comparison<'a> {
    fn push(&mut self, element: PathElement<'a>, change: Change, below: Comparison<'a>) {
        let parts = [
            (&mut self.removed, below.removed, Change::Removed),
            (&mut self.modified, below.modified, Change::Modified),
            (&mut self.added, below.added, Change::Added),
        ];
        let mut parts = parts
            .into_iter()
            .filter(|(_, below, own)| change == *own || !below.is_empty())
            .peekable();
        let mut element = Some(element);
        while let Some((set, below, own)) = parts.next() {
            // Mostly there is one: its keys are not copied.
            let step = match parts.peek() {
                Some(_) => element.clone(),
                None => element.take(),
            };
            if let Some(step) = step {
                set.push(step, change == own, below);
            }
        }
    }

    fn settle(&mut self) {
        self.removed.settle();
        self.modified.settle();
        self.added.settle();
    }
}

/// At least one of the two is there.
fn structs<'a>(
    old: Option<&'a dyn Struct>,
    new: Option<&'a dyn Struct>,
    ignored: &Ignored<'_>,
    out: &mut Comparison<'a>,
) {
    let Some(facts) = new.or(old).map(Struct::facts) else {
        return;
    };
    for (index, field) in facts.fields.iter().enumerate() {
        let view = |object: Option<&'a dyn Struct>| object.map(|object| object.field(index).view());
        let (old, new) = (view(old), view(new));
        if field.inline {
            structs(as_struct(old.as_ref()), as_struct(new.as_ref()), ignored, out);
            continue;
        }
        let present = |view: Option<View<'a>>| view.filter(|view| !view.is_omitted(field));
        let (old, new) = (present(old), present(new));
        if (old.is_some() || new.is_some()) && !ignored.fields.contains(&field.name) {
            let element = PathElement::Field(Cow::Borrowed(field.name));
            values(
                element,
                old.as_ref(),
                new.as_ref(),
                Relation::of_field(field),
                &ignored.below(field.name),
                out,
            );
        }
    }
}

/// At least one of the two is there.
fn values<'a>(
    element: PathElement<'a>,
    old: Option<&View<'a>>,
    new: Option<&View<'a>>,
    relation: Relation,
    ignored: &Ignored<'_>,
    out: &mut Comparison<'a>,
) {
    let presence = Change::of_presence(old.is_some(), new.is_some());
    // A value that is empty on either side is compared as a whole: that keeps "empty" apart from "not there".
    let is_whole = matches!(relation, Relation::Leaf);
    let is_old_bare = !is_whole && holds_nothing(old);
    if is_whole || is_old_bare && holds_nothing(new) {
        let change = match (old, new) {
            (Some(_), Some(_)) if holds_nothing(old) && holds_nothing(new) => Change::None,
            (Some(old), Some(new)) if !equal(old, new) => Change::Modified,
            _ => presence,
        };
        if change != Change::None {
            out.push(element, change, Comparison::default());
        }
        return;
    }
    let mut below = Comparison::default();
    match relation {
        Relation::Leaf => {}
        // A bare struct has no fields to compare with: on create none has.
        Relation::Struct => structs(
            as_struct(old).filter(|_| !is_old_bare),
            as_struct(new),
            ignored,
            &mut below,
        ),
        Relation::Map(ty) => maps(as_map(old), as_map(new), Relation::of_element(ty), &mut below),
        Relation::Keyed(keys, ty) => {
            let step = |element| keyed_element(keys, element);
            lists(as_list(old), as_list(new), &step, Relation::of_element(ty), &mut below);
        }
        Relation::Set(ty) => {
            lists(
                as_list(old),
                as_list(new),
                &set_element,
                Relation::of_element(ty),
                &mut below,
            );
        }
    }
    below.settle();
    if presence != Change::None || !below.is_same() {
        out.push(element, presence, below);
    }
}

fn maps<'a>(old: Option<&'a dyn Map>, new: Option<&'a dyn Map>, relation: Relation, out: &mut Comparison<'a>) {
    let (old, new) = (entries(old), entries(new));
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        let (key, before, after) = match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some((left, value)), Some((right, other))) if left == right => (*left, Some(*value), Some(*other)),
            (Some((left, value)), Some((right, _))) if left < right => (*left, Some(*value), None),
            (Some((left, value)), None) => (*left, Some(*value), None),
            (_, Some((right, value))) => (*right, None, Some(*value)),
        };
        old.next_if(|_| before.is_some());
        new.next_if(|_| after.is_some());
        let (before, after) = (before.map(Value::view), after.map(Value::view));
        let element = PathElement::Field(Cow::Borrowed(key));
        values(
            element,
            before.as_ref(),
            after.as_ref(),
            relation,
            &Ignored::NOTHING,
            out,
        );
    }
}

/// Elements that stand more than once on a side are looked at as a whole.
fn lists<'a>(
    old: Option<&'a dyn List>,
    new: Option<&'a dyn List>,
    step: &dyn Fn(&'a dyn Value) -> Option<PathElement<'a>>,
    relation: Relation,
    out: &mut Comparison<'a>,
) {
    let mut elements = steps(old, true, step);
    elements.append(&mut steps(new, false, step));
    // Stable: among equal steps the old elements come first, each side in its order.
    sort_by(&mut elements, |left, right| left.step.cmp(&right.step));
    for same in elements.chunk_by_mut(|left, right| left.step == right.step) {
        let element = std::mem::replace(&mut same[0].step, PathElement::Index(0));
        let (before, after) = same.split_at(same.partition_point(|element| element.is_old));
        let first = |elements: &[Element<'a>]| elements.first().map(|element| element.value.view());
        match (before.len(), after.len()) {
            (0 | 1, 0 | 1) => {
                values(
                    element,
                    first(before).as_ref(),
                    first(after).as_ref(),
                    relation,
                    &Ignored::NOTHING,
                    out,
                );
            }
            (2.., 2..) => {
                if !same_values(before, after) {
                    out.push(element, Change::Modified, Comparison::default());
                }
            }
            (2.., _) => {
                if let Some(after) = first(after) {
                    values(element.clone(), None, Some(&after), relation, &Ignored::NOTHING, out);
                }
                out.push(element, Change::Removed, Comparison::default());
            }
            (_, 2..) => {
                if let Some(before) = first(before) {
                    values(element.clone(), Some(&before), None, relation, &Ignored::NOTHING, out);
                }
                out.push(element, Change::Added, Comparison::default());
            }
        }
    }
}

struct Element<'a> {
    step: PathElement<'a>,
    value: &'a dyn Value,
    is_old: bool,
}

fn steps<'a>(
    list: Option<&'a dyn List>,
    is_old: bool,
    step: &dyn Fn(&'a dyn Value) -> Option<PathElement<'a>>,
) -> Vec<Element<'a>> {
    let Some(list) = list else { return Vec::new() };
    (0..list.len())
        .filter_map(|index| list.get(index))
        .filter_map(|value| {
            Some(Element {
                step: step(value)?,
                value,
                is_old,
            })
        })
        .collect()
}

fn same_values(left: &[Element<'_>], right: &[Element<'_>]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| equal(&left.value.view(), &right.value.view()))
}

/// True if a value is not there, null, or a struct, list or map without content.
fn holds_nothing(view: Option<&View<'_>>) -> bool {
    match view {
        None | Some(View::Absent) => true,
        Some(View::List(list)) => list.is_empty(),
        Some(View::Map(map)) => map.is_empty(),
        Some(View::Struct(object)) => is_bare(*object),
        Some(_) => false,
    }
}

/// True if a struct has no field that would be written.
fn is_bare(object: &dyn Struct) -> bool {
    object.facts().fields.iter().enumerate().all(|(index, field)| {
        let view = object.field(index).view();
        match (field.inline, &view) {
            (true, View::Struct(inner)) => is_bare(*inner),
            _ => view.is_omitted(field),
        }
    })
}

fn as_struct<'a>(view: Option<&View<'a>>) -> Option<&'a dyn Struct> {
    match view {
        Some(View::Struct(object)) => Some(*object),
        _ => None,
    }
}

fn as_map<'a>(view: Option<&View<'a>>) -> Option<&'a dyn Map> {
    match view {
        Some(View::Map(map)) => Some(*map),
        _ => None,
    }
}

fn as_list<'a>(view: Option<&View<'a>>) -> Option<&'a dyn List> {
    match view {
        Some(View::List(list)) => Some(*list),
        _ => None,
    }
}

fn entries(map: Option<&dyn Map>) -> Vec<(&str, &dyn Value)> {
    let mut entries = Vec::new();
    if let Some(map) = map {
        entries.reserve(map.len());
        map.each(&mut |key, value| entries.push((key, value)));
    }
    entries
}

#[cfg(test)]
mod tests;
