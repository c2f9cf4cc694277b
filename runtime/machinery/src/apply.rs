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
mod remove;
mod scale;
mod schema;
mod sent;

use serde_json::Value;

use crate::meta::ManagedFieldsEntry;

pub use conflict::Conflict;
pub use object::apply;
pub use scale::apply_scale;
pub use schema::Schema;
pub use sent::Sent;

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
    /// A document could not be read in a version that a manager uses.
    #[error("{0}")]
    Unconvertible(String),
}

#[cfg(test)]
mod tests;
