//! The set of fields that an object holds.

use std::borrow::Cow;

use super::element::PathElement;
use super::relation::{Relation, keyed_element, set_element};
use super::set::Set;
use crate::value::{List, Struct, Value, View};

/// The fields that an object holds: leaves, elements of lists and entries of maps, and structs that hold nothing.
///
/// This is what an applier of the object manages.
#[must_use]
pub fn extract(object: &dyn Struct) -> Set<'_> {
    let mut set = Set::new();
    collect_fields(object, &mut set);
    set.settle();
    set
}

fn collect_fields<'a>(object: &'a dyn Struct, set: &mut Set<'a>) {
    for (index, field) in object.facts().fields.iter().enumerate() {
        let view = object.field(index).view();
        if field.inline {
            if let View::Struct(inner) = view {
                collect_fields(inner, set);
            }
        } else if !view.is_omitted(field) {
            collect(
                PathElement::Field(Cow::Borrowed(field.name)),
                &view,
                Relation::of_field(field),
                false,
                set,
            );
        }
    }
}

/// `is_part` says that the value is a member by itself: an element of a list or an entry of a map.
fn collect<'a>(element: PathElement<'a>, view: &View<'a>, relation: Relation, is_part: bool, set: &mut Set<'a>) {
    let mut below = Set::new();
    let member = match (relation, view) {
        (Relation::Struct, View::Struct(object)) => {
            collect_fields(*object, &mut below);
            below.settle();
            below.is_empty()
        }
        (Relation::Map(ty), View::Map(map)) => {
            map.each(&mut |key, value| {
                let element = PathElement::Field(Cow::Borrowed(key));
                collect(element, &value.view(), Relation::of_element(ty), true, &mut below);
            });
            map.is_empty()
        }
        (Relation::Keyed(keys, ty), View::List(list)) => {
            collect_elements(*list, Relation::of_element(ty), &mut below, |element| {
                keyed_element(keys, element)
            });
            false
        }
        (Relation::Set(ty), View::List(list)) => {
            collect_elements(*list, Relation::of_element(ty), &mut below, set_element);
            false
        }
        _ => true,
    };
    set.push(element, member || is_part, below);
}

/// An element that stands more than once is a member without anything below it.
fn collect_elements<'a>(
    list: &'a dyn List,
    relation: Relation,
    set: &mut Set<'a>,
    step: impl Fn(&'a dyn Value) -> Option<PathElement<'a>>,
) {
    let mut elements: Vec<_> = (0..list.len())
        .filter_map(|index| list.get(index))
        .filter_map(|value| step(value).map(|step| (step, value)))
        .collect();
    elements.sort_by(|left, right| left.0.cmp(&right.0));
    for same in elements.chunk_by(|left, right| left.0 == right.0) {
        match same {
            [(step, value)] => collect(step.clone(), &value.view(), relation, true, set),
            [(step, _), ..] => set.push(step.clone(), true, Set::new()),
            [] => {}
        }
    }
    set.settle();
}
