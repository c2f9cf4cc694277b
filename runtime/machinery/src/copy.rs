//! Copies between values of dynamic type.

use std::any::Any;

use serde_json::Value as Tree;

use crate::json::tree_of;
use crate::value::{Slot, Struct, Value, View};

/// Copies the content of `from` to `to`. Both have the same type or shape; parts of another shape become zero.
pub fn copy(from: &dyn Value, to: &mut dyn Value) {
    to.reset();
    copy_view(&from.view(), to);
}

/// Copies the field with the JSON name `name` between structs of one type. Returns true if there is such a field.
pub fn copy_field(name: &str, from: &dyn Struct, to: &mut dyn Struct) -> bool {
    let Some(index) = to.facts().fields.iter().position(|field| field.name == name) else {
        return false;
    };
    if !std::ptr::eq(from.facts(), to.facts()) {
        return false;
    }
    copy(from.field(index), to.field_mut(index));
    true
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
