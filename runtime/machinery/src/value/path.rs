//! Values at dotted paths such as `spec.replicas`.

use std::any::Any;

use serde_json::Value as Tree;

use super::{Map, Slot, Struct, Value, View};

/// Returns the value at a dotted path; `None` if the type has no such field or a value on the path is absent.
///
/// Fields of inlined structs are fields of the outer one; entries of maps are found by their key. Paths do not lead
/// into lists.
#[must_use]
pub fn get_at<'a>(object: &'a dyn Struct, path: &str) -> Option<&'a dyn Value> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    for (index, field) in object.facts().fields.iter().enumerate() {
        let value = object.field(index);
        let found = match value.view() {
            View::Struct(inner) if field.inline => get_at(inner, path),
            View::Map(rest) if field.inline => get_below(rest, path),
            _ if field.name != name || field.inline => None,
            _ if rest.is_empty() => return Some(value),
            View::Struct(inner) => return get_at(inner, rest),
            View::Map(map) => return get_below(map, rest),
            _ => return None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the number at a dotted path, as [`get_at`] finds it; `None` if it is absent or not a number.
#[must_use]
pub fn number_at(object: &dyn Struct, path: &str) -> Option<i64> {
    match get_at(object, path)?.view() {
        View::Int(number) => Some(number),
        _ => None,
    }
}

fn get_below<'a>(map: &'a dyn Map, path: &str) -> Option<&'a dyn Value> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let value = map.get(name)?;
    match value.view() {
        _ if rest.is_empty() => Some(value),
        View::Map(inner) => get_below(inner, rest),
        _ => None,
    }
}

/// Changes the value at a dotted path and creates absent values on the path. Returns true if the type has such a field.
pub fn change_at(object: &mut dyn Struct, path: &str, change: &mut dyn FnMut(&mut dyn Value)) -> bool {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    for (index, field) in object.facts().fields.iter().enumerate() {
        let value = object.field_mut(index);
        let changed = if field.inline {
            change_inlined(value.slot(), path, change)
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

fn change_inlined(slot: Slot<'_>, path: &str, change: &mut dyn FnMut(&mut dyn Value)) -> bool {
    match slot {
        Slot::Map(rest) => match path.split_once('.') {
            None => {
                change(rest.entry(path));
                true
            }
            Some((name, path)) => change_below(rest.entry(name).slot(), path, change),
        },
        other => change_below(other, path, change),
    }
}

fn change_below(slot: Slot<'_>, path: &str, change: &mut dyn FnMut(&mut dyn Value)) -> bool {
    match slot {
        Slot::Struct(inner) => change_at(inner, path, change),
        Slot::Optional(inner) => change_below(inner.insert().slot(), path, change),
        Slot::Scalar(leaf) => (leaf as &mut dyn Any)
            .downcast_mut::<Tree>()
            .is_some_and(|tree| change_in_tree(tree, path, change)),
        _ => false,
    }
}

fn change_in_tree(tree: &mut Tree, path: &str, change: &mut dyn FnMut(&mut dyn Value)) -> bool {
    let mut tree = tree;
    for name in path.split('.') {
        if tree.is_null() {
            *tree = Tree::Object(serde_json::Map::new());
        }
        let Tree::Object(entries) = tree else { return false };
        tree = entries.entry(name).or_insert(Tree::Null);
    }
    change(tree);
    true
}

#[cfg(test)]
mod tests {
    use crate::meta::{DeleteOptions, ObjectMeta, Preconditions};

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

    #[test]
    fn numbers_are_found_by_path() {
        let meta = ObjectMeta {
            name: "1".to_owned(),
            generation: 2,
            ..ObjectMeta::default()
        };
        let found = ["generation", "name", "deletionGracePeriodSeconds", "none"].map(|path| number_at(&meta, path));
        assert_eq!(found, [Some(2), None, None, None]);
    }
}
