//! Documents with a schema: their owned fields, and merges, comparisons and removals of fields, each place by its schema.
//!
//! Reading order: [`Schema`], `owned` (the fields that an applied document claims), `merge`, `remove`, `compare`, `check`.

mod check;
mod compare;
mod custom;
mod merge;
mod owned;
mod remove;
mod schema;

use planesmith_dynamic::custom::{AsCustom, CustomObject};
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use serde_json::Value;

use crate::fields::{Set, has_repeated, has_unidentified};

pub(crate) use check::{check, check_live};
pub(crate) use compare::{Difference, same};
pub use custom::CustomSchema;
pub(crate) use merge::merge;
pub(crate) use owned::owned;
pub(crate) use remove::{remove, with_declared};
pub use schema::Schema;
pub(crate) use schema::{KindSchema, Parts};

/// The changes of a custom object.
pub(crate) struct Changed {
    /// Fields that only the old object holds.
    pub(crate) removed: Set<'static>,
    /// Fields that the new object holds with other values, or alone.
    pub(crate) taken: Set<'static>,
    /// True if an object does not match its type; see [`type_mismatch`].
    pub(crate) has_type_mismatch: bool,
}

/// Compares objects that are documents inside, but for `ignored` with all that is below. The counterpart of
/// [`crate::fields::compare`].
pub(crate) fn changed(old: &CustomObject, new: &CustomObject, ignored: &Set<'_>) -> Changed {
    let schema = Schema::from_object(new);
    let (old, new) = (old.unmanaged_members(), new.unmanaged_members());
    let mut difference = Difference::of_members(&old, &new, schema);
    difference.ignore(ignored);
    Changed {
        removed: difference.removed.clone().into_owned(),
        taken: difference.taken().into_owned(),
        has_type_mismatch: difference.has_type_mismatch,
    }
}

/// Reports why the fields of an object cannot be tracked: it does not match its type. `None` if it does.
///
/// Elements may be repeated. This is the full report; [`changed`] and [`crate::fields::has_unidentified`] notice such
/// objects at less cost.
pub(crate) fn type_mismatch(object: &dyn Object) -> Option<String> {
    match object.as_custom() {
        Some(custom) => check_live(&custom.to_unmanaged_document(), Schema::from_object(object)),
        None => check_live(&declared_document(object), Schema::from_object(object)),
    }
}

/// Like [`type_mismatch`], for the result of a conversion, in which no element may be repeated.
///
/// A declared object matches its type but for its identified lists: the object is rendered only if one of these may not match.
pub(crate) fn type_mismatch_of_converted(object: &dyn Object) -> Option<String> {
    if !has_unidentified(object) && !has_repeated(object) {
        return None;
    }
    check(&declared_document(object), Schema::from_object(object))
}

/// Like [`type_mismatch_of_converted`], for the document that is to become `object`.
pub(crate) fn type_mismatch_of_document(document: &Value, object: &CustomObject) -> Option<String> {
    check(document, Schema::from_object(object))
}

fn declared_document(object: &dyn Object) -> Value {
    let mut document = json::to_value(object);
    if let Some(Value::Object(metadata)) = document.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    document
}
