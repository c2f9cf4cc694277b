//! The object of a write between its steps.

use std::sync::Arc;

use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::object::Object;
use planesmith_machinery::scale::v1::Scale;
use planesmith_store::Entry;

use super::Part;

/// The object of a write between its steps, whose types are made in their own files only.
pub(super) struct Candidate<P> {
    pub(super) object: Box<dyn Object>,
    /// Size of the object in JSON, in bytes; an estimate.
    pub(super) size: usize,
    /// The Scale through which the write comes, as it was sent; `None` for other writes.
    pub(super) scale: Option<Box<Scale>>,
    /// Empty values in the document of the object, until it is validated.
    pub(super) sent_empty: SentEmpty,
    /// True if the document had fields that are not stored, and yet count as a change.
    pub(super) has_pruned_fields: bool,
    pub(super) purpose: P,
}

/// The purpose of a write: [`New`] or [`Existing`].
pub(crate) trait Purpose: Copy + Send + Sync {
    /// The object that the write changes; `None` when it creates one.
    fn old(&self) -> Option<&dyn Object>;
}

/// The write creates an object.
#[derive(Clone, Copy)]
pub(crate) struct New;

/// The write changes an object, of which it has met this state.
#[derive(Clone, Copy)]
pub(crate) struct Existing<'s> {
    pub(super) key: &'s str,
    pub(super) entry: &'s Arc<Entry>,
    /// The object of the entry, in the version that the write works on.
    pub(super) old: &'s dyn Object,
    /// The part that the write changes.
    pub(super) part: Part<'s>,
    /// Size of the change in JSON, in bytes; an estimate.
    pub(super) size: usize,
}

impl Purpose for New {
    fn old(&self) -> Option<&dyn Object> {
        None
    }
}

impl Purpose for Existing<'_> {
    fn old(&self) -> Option<&dyn Object> {
        Some(self.old)
    }
}
