//! The value at the path of a field error: `spec.ports[0].name`, `metadata.labels[a b]`.

use crate::facts::FieldFacts;
use crate::value::{Slot, Struct, Value};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A field.
    Name(String),
    /// An element, or an entry by its key.
    Inside(String),
}

/// Returns the steps of a path.
pub(super) fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (key, after) = inside.split_once(']').unwrap_or((inside, ""));
            steps.push(Step::Inside(key.to_owned()));
            rest = after;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Name(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    steps
}

/// A value and the facts of its field; elements and entries have no facts.
pub(super) type Target<'a> = (&'a mut dyn Value, Option<&'static FieldFacts>);

/// Returns the value at a path below a struct and creates absent values on the path. `None` if no field has the path.
pub(super) fn below<'a>(target: &'a mut dyn Struct, steps: &[Step]) -> Option<Target<'a>> {
    let (Step::Name(name), rest) = steps.split_first()? else {
        return None;
    };
    let fields = target.facts().fields;
    if let Some(index) = fields.iter().position(|field| field.name == name) {
        return inside(target.field_mut(index), Some(&fields[index]), rest);
    }
    // Not a field of this struct itself, but perhaps of an inlined one.
    let index = fields
        .iter()
        .position(|field| field.inline && has(target, field, name))?;
    match target.field_mut(index).slot() {
        Slot::Struct(inner) => below(inner, steps),
        _ => None,
    }
}

fn has(target: &dyn Struct, inlined: &FieldFacts, name: &str) -> bool {
    let index = target
        .facts()
        .fields
        .iter()
        .position(|field| std::ptr::eq(field, inlined));
    let view = index.map(|index| target.field(index).view());
    matches!(view, Some(crate::value::View::Struct(inner)) if inner.facts().fields.iter().any(|field| field.name == name))
}

fn inside<'a>(value: &'a mut dyn Value, field: Option<&'static FieldFacts>, steps: &[Step]) -> Option<Target<'a>> {
    let Some((step, rest)) = steps.split_first() else {
        return Some((value, field));
    };
    match (value.slot(), step) {
        (Slot::Struct(inner), Step::Name(_)) => below(inner, steps),
        (Slot::Optional(optional), _) => inside(optional.insert(), field, steps),
        (Slot::List(list), Step::Inside(index)) => inside(list.get_mut(index.parse().ok()?)?, None, rest),
        (Slot::Map(map), Step::Inside(key)) if map.get(key).is_some() => inside(map.entry(key), None, rest),
        _ => None,
    }
}
