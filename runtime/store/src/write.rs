//! Conditional writes and their results.

use std::sync::Arc;
use std::time::Duration;

use crate::transformer::TransformError;
use crate::{Draft, Entry, Revision, Row};

/// The condition on a key's state under which a write is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The key has no state.
    Absent,
    /// The key's state is the one that this revision wrote.
    Revision(Revision),
    /// The key has any state.
    Present,
    /// No condition. (Deleting a key without a state is refused nevertheless.)
    Any,
}

/// One conditional write.
#[derive(Clone, Debug)]
pub enum Op {
    /// Gives a key a new state.
    Put {
        /// The full key; it starts with the prefix of the collection.
        key: Arc<str>,
        /// The new state.
        draft: Draft,
        /// The labels and fields of the new state that selectors read.
        row: Row,
        /// The condition.
        expect: Expect,
        /// Time until the store deletes the key by itself; `None` means never. Every put sets it anew.
        ttl: Option<Duration>,
    },
    /// Gives a key the same object in another form, such as encrypted with another key. The store deletes it at the same time as
    /// before.
    Rewrite {
        /// The full key; it starts with the prefix of the collection.
        key: Arc<str>,
        /// The object.
        draft: Draft,
        /// The labels and fields of the object that selectors read.
        row: Row,
        /// The revision of the state that is rewritten; a conflict if the key has another one.
        revision: Revision,
    },
    /// Removes a key.
    Delete {
        /// The full key; it starts with the prefix of the collection.
        key: Arc<str>,
        /// The condition.
        expect: Expect,
        /// The final state that watchers see; `None` means the current state with the deletion's
        /// revision in it.
        last: Option<(Draft, Row)>,
    },
}

impl Op {
    /// The key that the operation writes.
    #[must_use]
    pub fn key(&self) -> &Arc<str> {
        match self {
            Self::Put { key, .. } | Self::Rewrite { key, .. } | Self::Delete { key, .. } => key,
        }
    }

    /// Bytes of the key and the object.
    pub(crate) fn size(&self) -> usize {
        let draft = match self {
            Self::Put { draft, .. } | Self::Rewrite { draft, .. } => draft.len(),
            Self::Delete { last, .. } => last.as_ref().map_or(0, |(draft, _)| draft.len()),
        };
        self.key().len() + draft
    }
}

/// The result of a write: it is durable and visible.
#[derive(Clone, Debug)]
pub struct Written {
    /// The new state; for a deletion the final state, which carries the deletion's revision.
    pub entry: Arc<Entry>,
    /// The state before the write; `None` when it created the key.
    pub previous: Option<Arc<Entry>>,
    /// The time that the batch took to become durable.
    pub synced: Duration,
}

impl Written {
    /// The write's revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.entry.revision()
    }
}

/// The reason why the outcome of a write is unknown that was under way when the store was closed.
pub const CLOSED_MEANWHILE: &str = "the store was closed";

/// The reason that a write was not performed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WriteError {
    /// The key's state is not the expected one.
    #[error("the key {}; read it again and repeat the change", found(current.as_ref()))]
    Conflict {
        /// The state that contradicts the expectation; `None` when there is none.
        current: Option<Arc<Entry>>,
    },
    /// The disk is full. Nothing was written; later writes succeed once there is space again.
    #[error("the disk of the store is full; free space on it, writes then succeed again")]
    Full,
    /// The object or its key is larger than the store accepts.
    #[error("the write has {size} bytes; the store accepts at most {limit}")]
    TooLarge {
        /// Size of key and object, in bytes.
        size: usize,
        /// Maximum accepted size, in bytes.
        limit: usize,
    },
    /// The value cannot be transformed, e.g. because the plugin that encrypts keys does not answer. Nothing was written.
    #[error("the value cannot be encrypted: {0}")]
    Transform(TransformError),
    /// The store is closed, or closing.
    #[error("the store is closed")]
    Closed,
    /// The disk failed too often: nothing is written until the next start. The text is the cause.
    #[error("the store accepts no writes until it is started again: {0}")]
    ReadOnly(Arc<str>),
    /// The disk failed. The outcome of the write is unknown until another write succeeds, which drops this one, or until the
    /// next start, which may find it.
    #[error("the store could not write, and the outcome of the write is unknown: {0}")]
    Io(Arc<str>),
    /// The store elsewhere did not perform the write, e.g. because there is no connection.
    #[error("the store did not perform the write: {0}")]
    Unavailable(Arc<str>),
    /// The answer of the store elsewhere was lost: it may have performed the write, and may still do so. The write is not
    /// repeated.
    #[error("the outcome of the write is unknown: {0}")]
    OutcomeUnknown(Arc<str>),
}

fn found(current: Option<&Arc<Entry>>) -> String {
    match current {
        Some(entry) => format!("is at revision {}", entry.revision()),
        None => "does not exist".to_owned(),
    }
}

/// The result of a write.
pub type WriteResult = Result<Written, WriteError>;
