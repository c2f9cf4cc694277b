//! Server-side apply: a manager says all that it wants of an object, and fields that it no longer wants go away.
//!
//! Everything here works on documents, because a typed object cannot tell `false` that was said from `false` that was
//! not. Reading order: [`Sent`], `managers` (an apply to a document and its managers), [`apply`] (to an object) and
//! [`apply_scale`].

mod conflict;
mod last_applied;
mod managers;
mod object;
mod prune;
mod scale;
mod sent;

use serde_json::Value;

use planesmith_machinery::meta::ManagedFieldsEntry;

pub use conflict::Conflict;
pub use object::apply;
pub use scale::apply_scale;
pub use sent::Sent;

/// The outcome of an apply.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The new object, without managed fields; not defaulted.
    pub document: Value,
    /// Its managed fields.
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

/// The reason why a document was not applied.
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
