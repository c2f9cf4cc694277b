//! Server-side apply: a manager says all that it wants of an object, and fields that it no longer wants go away.
//!
//! Everything here works on documents, because a typed object cannot tell `false` that was said from `false` that was
//! not. Reading order: [`Schema`], `owned` (what an applied document claims), `merge`, `remove`, `compare`, and
//! [`apply`], which puts them together with the managers of an object.

mod check;
mod compare;
mod conflict;
mod last_applied;
mod managers;
mod merge;
mod object;
mod owned;
mod prune;
mod reconcile;
mod remove;
mod scale;
mod schema;
mod sent;

use serde_json::Value;

use self::compare::Difference;
use crate::custom::CustomObject;
use crate::fields::Set;
use crate::meta::ManagedFieldsEntry;

pub use conflict::Conflict;
pub(crate) use managers::unmanaged;
pub use object::apply;
pub(crate) use reconcile::reconcile;
pub use scale::apply_scale;
pub use schema::Schema;
pub use sent::Sent;

/// The fields that only `old` holds, and those that `new` holds with other values or alone; but for `ignored` with all
/// that is below. What [`crate::fields::compare`] is for declared kinds, for objects that are documents inside.
pub(crate) fn changed(old: &CustomObject, new: &CustomObject, ignored: &Set<'_>) -> (Set<'static>, Set<'static>) {
    let schema = Schema::of(new);
    let (old, new) = (old.unmanaged_members(), new.unmanaged_members());
    let mut difference = Difference::of_members(&old, &new, schema);
    difference.ignore(ignored);
    (difference.removed.clone().into_owned(), difference.taken().into_owned())
}

/// What a document that may have become an object long ago holds against the type of `object`; nothing when it fits.
pub(crate) fn misfit(document: &Value, object: &CustomObject) -> Option<String> {
    check::check_live(document, Schema::of(object))
}

/// The outcome of an apply.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The new object, without managed fields; not defaulted.
    pub document: Value,
    /// Its managed fields.
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

/// Why a document was not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The document does not fit the kind; what is wrong with it.
    #[error("{0}")]
    Unfit(String),
    /// Other managers have said something else; at least one.
    #[error("{} conflicts", .0.len())]
    Conflicts(Vec<Conflict>),
    /// The outcome is no object of the kind.
    #[error("{0}")]
    Unconvertible(String),
    /// The object could not be had in a version that a manager uses; why, for the client.
    #[error("{0}")]
    Unversioned(String),
}

impl ApplyError {
    /// The same, told by whoever did `what`.
    fn while_doing(self, what: &str) -> Self {
        match self {
            ApplyError::Unversioned(why) => ApplyError::Unversioned(format!("{what}: {why}")),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
