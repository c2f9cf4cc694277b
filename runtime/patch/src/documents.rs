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

use planesmith_dynamic::custom::CustomObject;
use serde_json::Value;

use crate::fields::Set;

pub(crate) use check::{check, check_live};
pub(crate) use compare::{Difference, same};
pub use custom::CustomSchema;
pub(crate) use merge::merge;
pub(crate) use owned::owned;
pub(crate) use remove::{remove, with_declared};
pub use schema::Schema;
pub(crate) use schema::{KindSchema, Parts};

/// The fields that only `old` holds, and those that `new` holds with other values or alone; but for `ignored` with all
/// that is below. The counterpart of [`crate::fields::compare`] for objects that are documents inside.
pub(crate) fn changed(old: &CustomObject, new: &CustomObject, ignored: &Set<'_>) -> (Set<'static>, Set<'static>) {
    let schema = Schema::from_object(new);
    let (old, new) = (old.unmanaged_members(), new.unmanaged_members());
    let mut difference = Difference::of_members(&old, &new, schema);
    difference.ignore(ignored);
    (difference.removed.clone().into_owned(), difference.taken().into_owned())
}

/// Reports why a document that may have become an object long ago does not fit the type of `object`; `None` if it fits.
pub(crate) fn misfit(document: &Value, object: &CustomObject) -> Option<String> {
    check::check_live(document, Schema::from_object(object))
}
