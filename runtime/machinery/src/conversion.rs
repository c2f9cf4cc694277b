//! Converts an object between versions of its kind, through the storage version.
//!
//! Fields of the same JSON name and shape are copied. Fields with a declared new path are copied to that path. The
//! conversion functions of the kind set the rest.

mod copy;
mod lost;
mod path;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::facts::{FieldFacts, StructFacts, TypeFacts};
use crate::resource::ResourceFacts;
use crate::resource::object::Object;
use crate::status::ApiResult;
use crate::value::{Struct, Value, View};

pub use lost::lost_fields;

/// Returns `object` in the version `target` of its kind.
#[must_use]
pub fn convert(object: &dyn Object, target: &ResourceFacts) -> Box<dyn Object> {
    let source = object.resource();
    if source == target {
        return object.boxed();
    }
    if let (Some(_), Some(kind)) = (&source.custom, &target.custom) {
        return kind.rename(object, target);
    }
    let hub = match &source.conversion {
        None => None,
        Some(conversion) => {
            let mut hub = (conversion.hub)().zero();
            copy_metadata(object, &mut *hub);
            copy_fields(object, &mut *hub, Direction::ToHub(source));
            (conversion.finish_to_hub)(object, &mut *hub);
            Some(hub)
        }
    };
    let Some(conversion) = &target.conversion else {
        return hub.unwrap_or_else(|| object.boxed());
    };
    let hub = hub.as_deref().unwrap_or(object);
    let mut converted = target.zero();
    copy_metadata(hub, &mut *converted);
    copy_fields(hub, &mut *converted, Direction::FromHub(target));
    (conversion.finish_from_hub)(hub, &mut *converted);
    converted
}

/// Like [`convert`], but uses the converter that the kind names: a custom kind may delegate the conversion.
///
/// # Errors
///
/// 500 if that converter fails.
pub fn try_convert(object: &dyn Object, target: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
    match (&object.resource().custom, &target.custom) {
        (Some(_), Some(kind)) if object.resource() != target => kind.convert(object, target),
        _ => Ok(convert(object, target)),
    }
}

fn copy_metadata(from: &dyn Object, to: &mut dyn Object) {
    to.meta_mut().clone_from(from.meta());
}

/// Copies each field with the same JSON name and shape in both structs. For `Convert` implementations where a struct is
/// at another depth in the storage version and has no path because it is inside a list.
pub fn copy_alike(from: &dyn Struct, to: &mut dyn Struct) {
    copy::copy_struct(from, to, &mut Vec::new(), &|_| true);
}

/// The direction of a conversion. The version that is not the storage version declares the moved fields.
#[derive(Clone, Copy)]
enum Direction<'f> {
    ToHub(&'f ResourceFacts),
    FromHub(&'f ResourceFacts),
}

fn copy_fields(from: &dyn Object, to: &mut dyn Object, direction: Direction<'_>) {
    let (Direction::ToHub(older) | Direction::FromHub(older)) = direction;
    let moved = moved_of(older);
    let stays = |field: &[&str]| field != ["metadata"] && !moved.iter().any(|moved| moved.from == field);
    copy::copy_struct(from, to, &mut Vec::new(), &stays);
    for moved in moved.iter() {
        let (source, target) = match direction {
            Direction::ToHub(_) => (&moved.from, &moved.to),
            Direction::FromHub(_) => (&moved.to, &moved.from),
        };
        path::copy(from, source, to, target);
    }
}

/// A field of an older version that has another path in the storage version.
#[derive(Debug)]
struct Moved {
    from: Vec<&'static str>,
    to: Vec<&'static str>,
}

/// Returns the moved fields of a version, whose table is static; computed once per version.
fn moved_of(version: &ResourceFacts) -> Arc<[Moved]> {
    static KNOWN: LazyLock<RwLock<HashMap<usize, Arc<[Moved]>>>> = LazyLock::new(RwLock::default);
    let facts = version.fields();
    let address = std::ptr::from_ref(facts).addr();
    // A poisoned lock still contains a consistent map.
    if let Some(moved) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&address) {
        return Arc::clone(moved);
    }
    let moved: Arc<[Moved]> = moved_fields(facts).into();
    KNOWN
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(address, Arc::clone(&moved));
    moved
}

/// Returns the moved fields of a version outside of lists and maps; only those have a path.
fn moved_fields(facts: &'static StructFacts) -> Vec<Moved> {
    let mut moved = Vec::new();
    collect_moved(facts, &mut Vec::new(), &mut moved);
    moved
}

fn collect_moved(facts: &'static StructFacts, path: &mut Vec<&'static str>, moved: &mut Vec<Moved>) {
    // Deeper nesting means a struct that contains itself.
    const MAX_DEPTH: usize = 8;
    for field in facts.fields {
        let inner = match field.ty.present() {
            TypeFacts::Struct(inner) if path.len() < MAX_DEPTH && field.name != "metadata" => Some(inner()),
            _ => None,
        };
        if field.inline {
            if let Some(inner) = inner {
                collect_moved(inner, path, moved);
            }
            continue;
        }
        path.push(field.name);
        if let Some(to) = field.moved_to {
            moved.push(Moved {
                from: path.clone(),
                to: to.split('.').collect(),
            });
        } else if let Some(inner) = inner {
            collect_moved(inner, path, moved);
        }
        path.pop();
    }
}

/// Returns the field `name`, of the struct or of an inlined struct.
fn find<'a>(object: &'a dyn Struct, name: &str) -> Option<(&'static FieldFacts, &'a dyn Value)> {
    let fields = object.facts().fields;
    if let Some(index) = fields.iter().position(|field| field.name == name && !field.inline) {
        return Some((&fields[index], object.field(index)));
    }
    let inlined = fields.iter().enumerate().filter(|(_, field)| field.inline);
    inlined
        .into_iter()
        .find_map(|(index, _)| match object.field(index).view() {
            View::Struct(inner) => find(inner, name),
            _ => None,
        })
}

#[cfg(test)]
mod tests;
