//! The part that a value has in sets of fields: as a whole, or part by part.

use std::borrow::Cow;

use planesmith_machinery::facts::{FieldFacts, ListType, TypeFacts};
use planesmith_machinery::value::{Struct, Value, View};
use planesmith_wire::sorting::sort_by;

use super::element::PathElement;
use super::key_value::KeyValue;

/// The part that a value has in sets of fields.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation {
    /// As a whole.
    Leaf,
    /// Field by field.
    Struct,
    /// Entry by entry.
    Map(&'static TypeFacts),
    /// Element by element, identified by keys; with the type of the elements.
    Keyed(&'static [&'static str], &'static TypeFacts),
    /// Element by element, identified by value; with the type of the elements.
    Set(&'static TypeFacts),
}

impl Relation {
    /// The relation of a field.
    pub(super) fn of_field(field: &'static FieldFacts) -> Self {
        Self::resolve(&field.ty, Some(field))
    }

    /// The relation of an element of a list or an entry of a map.
    pub(super) fn of_element(ty: &'static TypeFacts) -> Self {
        Self::resolve(ty, None)
    }

    fn resolve(ty: &'static TypeFacts, field: Option<&'static FieldFacts>) -> Self {
        let is_atomic = field.is_some_and(|field| field.atomic);
        let is_granular = field.is_some_and(|field| field.granular);
        match ty {
            TypeFacts::Optional(inner) => Self::resolve(inner, field),
            TypeFacts::Struct(facts) => match facts() {
                facts if is_atomic || (facts.atomic && !is_granular) => Self::Leaf,
                _ => Self::Struct,
            },
            TypeFacts::Map(_) if is_atomic => Self::Leaf,
            TypeFacts::Map(element) => Self::Map(element),
            TypeFacts::List(element) => field.map_or(Self::Leaf, |field| Self::of_list(field, element)),
            TypeFacts::Bool
            | TypeFacts::Int32
            | TypeFacts::Int64
            | TypeFacts::Double
            | TypeFacts::String
            | TypeFacts::Bytes
            | TypeFacts::Scalar(_) => Self::Leaf,
        }
    }

    fn of_list(field: &'static FieldFacts, element: &'static TypeFacts) -> Self {
        match field.element_identity() {
            ListType::Atomic | ListType::Unspecified => Self::Leaf,
            ListType::Set => Self::Set(element),
            ListType::Map(keys) => Self::Keyed(keys, element),
        }
    }
}

/// The step to an element of a keyed list; `None` when it has none of the keys.
pub(super) fn keyed_element<'a>(keys: &[&'static str], element: &'a dyn Value) -> Option<PathElement<'a>> {
    let View::Struct(element) = element.view() else {
        return None;
    };
    let mut pairs: Vec<(Cow<'a, str>, KeyValue<'a>)> = Vec::with_capacity(keys.len());
    for key in keys {
        let Some((field, view)) = key_field(element, key) else {
            continue;
        };
        let value = match view.is_omitted(field) {
            false => KeyValue::from_view(&view),
            true => field
                .default
                .and_then(|json| serde_json::from_str(json).ok())
                .map(KeyValue::from_json),
        };
        pairs.extend(value.map(|value| (Cow::Borrowed(*key), value)));
    }
    sort_by(&mut pairs, |left, right| left.0.cmp(&right.0));
    (!pairs.is_empty()).then_some(PathElement::Key(pairs))
}

/// The field `key`, which may stand in a struct that is written without a name of its own.
fn key_field<'a>(element: &'a dyn Struct, key: &str) -> Option<(&'static FieldFacts, View<'a>)> {
    let mut fields = element.facts().fields.iter().enumerate();
    fields.find_map(|(index, field)| match field.inline {
        false => (field.name == key).then(|| (field, element.field(index).view())),
        true => match element.field(index).view() {
            View::Struct(inner) => key_field(inner, key),
            _ => None,
        },
    })
}

/// The step to an element of a set; `None` when it is not a plain value.
pub(super) fn set_element(element: &dyn Value) -> Option<PathElement<'_>> {
    KeyValue::from_view(&element.view()).map(PathElement::Value)
}
