//! Values at dotted paths such as `spec.replicas`.

use super::{Slot, Struct, Value, View};

/// The value at a dotted path; `None` when the type has no such field or something on the way is absent.
///
/// Fields of inlined structs are found under the outer one. Paths do not lead into lists and maps.
#[must_use]
pub fn get_at<'a>(object: &'a dyn Struct, path: &str) -> Option<&'a dyn Value> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    for (index, field) in object.facts().fields.iter().enumerate() {
        let value = object.field(index);
        let found = match value.view() {
            View::Struct(inner) if field.inline => get_at(inner, path),
            _ if field.name != name || field.inline => None,
            _ if rest.is_empty() => return Some(value),
            View::Struct(inner) => return get_at(inner, rest),
            _ => return None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Changes the value at a dotted path, making what is absent on the way; whether the type has such a field.
pub fn change_at(object: &mut dyn Struct, path: &str, change: &mut dyn FnMut(&mut dyn Value)) -> bool {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    for (index, field) in object.facts().fields.iter().enumerate() {
        let value = object.field_mut(index);
        let changed = if field.inline {
            change_below(value.slot(), path, change)
        } else if field.name != name {
            false
        } else if rest.is_empty() {
            change(value);
            true
        } else {
            change_below(value.slot(), rest, change)
        };
        if changed {
            return true;
        }
    }
    false
}

fn change_below(slot: Slot<'_>, path: &str, change: &mut dyn FnMut(&mut dyn Value)) -> bool {
    match slot {
        Slot::Struct(inner) => change_at(inner, path, change),
        Slot::Optional(inner) => change_below(inner.insert().slot(), path, change),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::meta::{DeleteOptions, Preconditions};

    use super::*;

    #[test]
    fn values_are_found_and_changed_by_path() {
        let mut options = DeleteOptions::default();
        assert!(get_at(&options, "preconditions.uid").is_none());
        let mut set = |value: &mut dyn Value| {
            if let Slot::Optional(uid) = value.slot()
                && let Slot::Str(uid) = uid.insert().slot()
            {
                "1".clone_into(uid);
            }
        };
        assert!(change_at(&mut options, "preconditions.uid", &mut set));
        assert!(!change_at(&mut options, "preconditions.none", &mut set));
        let expected = Preconditions {
            uid: Some("1".to_owned()),
            ..Preconditions::default()
        };
        assert_eq!(options.preconditions, Some(expected));
        let found = get_at(&options, "preconditions.uid").expect("just set");
        assert!(matches!(found.view(), View::Str("1")));
    }
}
