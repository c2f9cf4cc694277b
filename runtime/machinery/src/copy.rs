//! Copies between values of dynamic type.

use std::any::Any;

use serde_json::Value as Tree;

use crate::facts::{StructFacts, TypeFacts};
use crate::json::tree_of;
use crate::value::{Map, Slot, Struct, Value, View};

/// Copies the content of `from` to `to`. Both have the same type or shape; parts of another shape become zero.
pub fn copy(from: &dyn Value, to: &mut dyn Value) {
    to.reset();
    copy_view(&from.view(), to);
}

/// Copies the field with the JSON name `name` between structs of one type. Returns true if there is such a field.
pub fn copy_field(name: &str, from: &dyn Struct, to: &mut dyn Struct) -> bool {
    let facts = to.facts();
    if !std::ptr::eq(from.facts(), facts) {
        return false;
    }
    if let Some(index) = facts.fields.iter().position(|field| field.name == name) {
        copy(from.field(index), to.field_mut(index));
        return true;
    }
    let Some(index) = inlined_map(facts) else {
        return false;
    };
    if let (View::Map(from), Slot::Map(to)) = (from.field(index).view(), to.field_mut(index).slot()) {
        match from.get(name) {
            Some(value) => copy(value, to.entry(name)),
            None => drop(to.remove(name)),
        }
    }
    true
}

/// Copies all fields but those named in `kept` between structs of one type.
pub fn copy_except(kept: &[&str], from: &dyn Struct, to: &mut dyn Struct) {
    for (index, field) in from.facts().fields.iter().enumerate() {
        if kept.contains(&field.name) {
            continue;
        }
        match (from.field(index).view(), to.field_mut(index).slot()) {
            (View::Map(from), Slot::Map(to)) if field.inline => copy_entries_except(kept, from, to),
            _ => copy(from.field(index), to.field_mut(index)),
        }
    }
}

fn copy_entries_except(kept: &[&str], from: &dyn Map, to: &mut dyn Map) {
    let mut old = Vec::new();
    to.each(&mut |name, _| old.push(name.to_owned()));
    for name in old.iter().filter(|name| !kept.contains(&name.as_str())) {
        to.remove(name);
    }
    from.each(&mut |name, value| {
        if !kept.contains(&name) {
            copy(value, to.entry(name));
        }
    });
}

/// Resets the field with the JSON name `name`.
pub fn reset_field(name: &str, object: &mut dyn Struct) {
    let facts = object.facts();
    if let Some(index) = facts.fields.iter().position(|field| field.name == name) {
        object.field_mut(index).reset();
    } else if let Some(index) = inlined_map(facts)
        && let Slot::Map(rest) = object.field_mut(index).slot()
    {
        rest.remove(name);
    }
}

/// Returns the index of the map whose entries are fields of the struct.
fn inlined_map(facts: &StructFacts) -> Option<usize> {
    facts
        .fields
        .iter()
        .position(|field| field.inline && matches!(field.ty, TypeFacts::Map(_)))
}

fn copy_view(from: &View<'_>, to: &mut dyn Value) {
    match (from, to.slot()) {
        (View::Absent, _) => {}
        (_, Slot::Optional(to)) => copy_view(from, to.insert()),
        (View::Bool(from), Slot::Bool(to)) => *to = *from,
        (View::Int(from), Slot::Int32(to)) => *to = i32::try_from(*from).unwrap_or_default(),
        (View::Int(from), Slot::Int64(to)) => *to = *from,
        (View::Double(from), Slot::Double(to)) => *to = *from,
        (View::Str(from), Slot::Str(to)) => (*from).clone_into(to),
        (View::Bytes(from), Slot::Bytes(to)) => (*from).clone_into(to),
        (from, Slot::Scalar(to)) if (to as &dyn Any).is::<Tree>() => {
            if let Some(to) = (to as &mut dyn Any).downcast_mut::<Tree>() {
                *to = tree_of(from);
            }
        }
        (View::Scalar(from), Slot::Scalar(to)) => {
            let mut payload = Vec::new();
            from.write_proto(&mut payload);
            // A leaf can decode its own payload; the payload of another type leaves the zero value.
            let _ = to.read_proto(&payload);
        }
        (View::Struct(from), Slot::Struct(to)) => {
            let fields = from.facts().fields.len().min(to.facts().fields.len());
            for index in 0..fields {
                copy(from.field(index), to.field_mut(index));
            }
        }
        (View::List(from), Slot::List(to)) => {
            for index in 0..from.len() {
                if let Some(element) = from.get(index) {
                    copy(element, to.push());
                }
            }
        }
        (View::Map(from), Slot::Map(to)) => from.each(&mut |key, value| copy(value, to.entry(key))),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::meta::{ManagedFieldsEntry, ObjectMeta, OwnerReference};
    use planesmith_wire::time::Time;

    use super::*;

    #[test]
    fn every_kind_of_value_arrives() {
        let from = ObjectMeta {
            name: "a".to_owned(),
            generation: 7,
            creation_timestamp: Time::from_second(1_700_000_000),
            deletion_timestamp: Some(Time::from_second(1_700_000_001)),
            deletion_grace_period_seconds: Some(0),
            labels: [("k".to_owned(), "v".to_owned())].into(),
            owner_references: vec![OwnerReference {
                uid: "1".to_owned(),
                controller: Some(false),
                ..OwnerReference::default()
            }],
            managed_fields: vec![ManagedFieldsEntry {
                manager: "m".to_owned(),
                time: Some(Time::from_second(5)),
                ..ManagedFieldsEntry::default()
            }],
            ..ObjectMeta::default()
        };
        let mut to = ObjectMeta {
            finalizers: vec!["old".to_owned()],
            ..ObjectMeta::default()
        };
        copy(&from, &mut to);
        assert_eq!(to, from);
        assert!(matches!(to.view(), View::Struct(_)));
    }

    #[test]
    fn one_field_is_copied_by_name() {
        let from = ObjectMeta {
            name: "a".to_owned(),
            namespace: "b".to_owned(),
            ..ObjectMeta::default()
        };
        let mut to = ObjectMeta::default();
        assert!(copy_field("name", &from, &mut to));
        assert!(!copy_field("none", &from, &mut to));
        assert_eq!((to.name.as_str(), to.namespace.as_str()), ("a", ""));
    }
}
