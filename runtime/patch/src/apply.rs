//! Server-side apply: a manager sends all fields that it owns in an object, and fields that it does not send any more
//! are removed.
//!
//! This module works on documents, because a typed object cannot distinguish an explicit `false` from an absent field.
//! Reading order: [`Sent`], `managers` (an apply to a document and its managers), [`apply`] (to an object),
//! [`apply_scale`] and [`apply_configuration`] (without managers).

mod configuration;
mod conflict;
mod last_applied;
mod managers;
mod object;
mod prune;
mod scale;
mod sent;

use serde_json::Value;

use planesmith_machinery::meta::ManagedFieldsEntry;

pub use configuration::apply_configuration;
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
    /// The document does not match the kind; contains the problem.
    #[error("{0}")]
    TypeMismatch(String),
    /// Other managers own fields with other values; at least one conflict.
    #[error("{} conflicts", .0.len())]
    Conflicts(Vec<Conflict>),
    /// The result is not an object of the kind.
    #[error("{0}")]
    Unconvertible(String),
    /// The object could not be converted to the version of a manager; contains the reason for the client.
    #[error("{0}")]
    Unversioned(String),
}

impl ApplyError {
    /// Adds the operation `what` to the message.
    fn while_doing(self, what: &str) -> Self {
        match self {
            ApplyError::Unversioned(why) => ApplyError::Unversioned(format!("{what}: {why}")),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
