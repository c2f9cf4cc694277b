//! Copies a value from one path to another.

use super::copy::copy_value;
use super::find;
use crate::value::{Slot, Struct, Value, View};

/// Copies the field at one path of `from` to another path of `to` and creates optional structs on the path. A field
/// that `from` omits from JSON is not copied.
pub(super) fn copy(from: &dyn Struct, source: &[&str], to: &mut dyn Struct, target: &[&str]) {
    if let Some(value) = get(from, source) {
        set(value, to, target);
    }
}

fn get<'a>(object: &'a dyn Struct, path: &[&str]) -> Option<&'a dyn Value> {
    let (first, rest) = path.split_first()?;
    let (facts, value) = find(object, first)?;
    if rest.is_empty() {
        return (!value.view().is_omitted(facts)).then_some(value);
    }
    match value.view() {
        View::Struct(inner) => get(inner, rest),
        _ => None,
    }
}

fn set(value: &dyn Value, object: &mut dyn Struct, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let fields = object.facts().fields;
    for (index, field) in fields.iter().enumerate() {
        if field.inline
            && let Slot::Struct(inner) = object.field_mut(index).slot()
        {
            set(value, inner, path);
        } else if field.name == *first {
            let target = object.field_mut(index);
            if rest.is_empty() {
                copy_value(value, target, &mut Vec::new(), &|_| true);
            } else {
                descend(value, target.slot(), rest);
            }
        }
    }
}

fn descend(value: &dyn Value, slot: Slot<'_>, path: &[&str]) {
    match slot {
        Slot::Struct(inner) => set(value, inner, path),
        Slot::Optional(inner) => descend(value, inner.insert().slot(), path),
        _ => {}
    }
}
