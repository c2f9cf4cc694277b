//! The interface between the engine and a store in which others write, too.
//!
//! The backend orders all writes and assigns their revisions. It stores bytes of its own encoding: an
//! [`Indexer`](crate::Indexer) translates them. The engine keeps the newest state of every key in memory, so the backend
//! only writes, delivers changes, and reports its newest revision.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::{Alarm, Expect, Revision};

/// A boxed future, so that backends are objects.
pub type BackendFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The state of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The key.
    pub key: Arc<str>,
    /// The revision of the write that led to the state.
    pub revision: Revision,
    /// The stored bytes.
    pub value: Bytes,
}

/// One change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: Arc<str>,
    /// The revision of the write.
    pub revision: Revision,
    /// The stored bytes; `None` for a deletion.
    pub value: Option<Bytes>,
}

/// Changes and progress, as a feed delivers them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Changes, in the order of their revisions. Several may share a revision; then the same delivery has all of them.
    pub changes: Vec<Change>,
    /// All changes up to this revision are delivered; at least the revision of the last change.
    pub complete: Revision,
}

/// One conditional write.
#[derive(Clone, Debug)]
pub struct StateWrite {
    /// The key.
    pub key: Arc<str>,
    /// The bytes to store; `None` deletes the key.
    pub value: Option<Bytes>,
    /// The condition. A deletion never has [`Expect::Absent`] or [`Expect::Any`].
    pub expect: Expect,
    /// The time at which the backend deletes the key by itself; of no effect on a deletion.
    pub lifetime: Lifetime,
}

/// The time that a key has until the backend deletes it by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// The backend does not delete the key.
    #[default]
    Unlimited,
    /// So much from the write on.
    Limited(Duration),
    /// The rest of the time that it has already. Only with [`Expect::Revision`].
    Unchanged,
}

impl From<Option<Duration>> for Lifetime {
    fn from(ttl: Option<Duration>) -> Self {
        ttl.map_or(Self::Unlimited, Self::Limited)
    }
}

/// The reason that a backend did not perform a write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The condition was not met.
    #[error("the key is not in the expected state at revision {at}")]
    Conflict {
        /// A revision at which the key's state contradicts the condition.
        at: Revision,
    },
    /// The backend has no space.
    #[error("the backend has no space")]
    Full,
    /// The write is larger than the backend accepts.
    #[error("the backend accepts at most {limit} bytes")]
    TooLarge {
        /// Maximum accepted size, in bytes.
        limit: usize,
    },
    /// The write was not performed for another reason, e.g. because there is no connection.
    #[error("the backend did not perform the write: {0}")]
    Unavailable(Arc<str>),
    /// The answer was lost: the write may have been performed, and may still be.
    #[error("the outcome of the write is unknown: {0}")]
    OutcomeUnknown(Arc<str>),
}

/// The failure of a request to a backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the backend does not answer: {0}")]
pub struct BackendError(pub Arc<str>);

/// The reason that a feed ended or did not begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// Changes after the requested revision are forgotten; the engine loads the content again.
    #[error("the changes are compacted")]
    Compacted,
    /// The connection was lost; the engine begins again after the last delivery.
    #[error("the feed of changes was lost: {0}")]
    Lost(Arc<str>),
}

/// Delivers the changes of a prefix.
pub trait Feed: Send {
    /// Returns the next delivery. Dropping the future ends the feed.
    ///
    /// # Errors
    ///
    /// The feed has ended, and is not used any more.
    fn next(&mut self) -> BackendFuture<'_, Result<Delivery, FeedError>>;
}

/// A store in which others write, too. All methods may be called concurrently, on a tokio runtime.
pub trait Backend: Send + Sync {
    /// Passes the newest state of every key under `prefix` to `page`, in pages, all at one revision, which it returns.
    ///
    /// # Errors
    ///
    /// The content cannot be read. Pages that were passed on do not count.
    fn load<'a>(
        &'a self,
        prefix: &'a str,
        page: &'a mut (dyn FnMut(Vec<State>) + Send),
    ) -> BackendFuture<'a, Result<Revision, BackendError>>;

    /// Follows the changes of keys under `prefix`: every change after `after`, once, in order.
    ///
    /// # Errors
    ///
    /// See [`FeedError`].
    fn follow<'a>(&'a self, prefix: &'a str, after: Revision) -> BackendFuture<'a, Result<Box<dyn Feed>, FeedError>>;

    /// Performs `write` if its condition is met, and returns its revision once it is durable.
    ///
    /// Repeating a request is safe only while the backend knows that the earlier one was not performed.
    ///
    /// # Errors
    ///
    /// See [`Refusal`]; nothing was written unless it is [`Refusal::OutcomeUnknown`].
    fn write(&self, write: StateWrite) -> BackendFuture<'_, Result<Revision, Refusal>>;

    /// Returns a revision that is at least that of every write that was answered before the call, to any client.
    ///
    /// # Errors
    ///
    /// The backend does not answer.
    fn newest(&self) -> BackendFuture<'_, Result<Revision, BackendError>>;

    /// Lets open feeds deliver their progress soon. Called repeatedly while readers wait for it.
    ///
    /// # Errors
    ///
    /// The backend does not answer.
    fn request_progress(&self) -> BackendFuture<'_, Result<(), BackendError>>;

    /// Forgets history up to and including `revision`. A revision that is forgotten already is no error.
    ///
    /// # Errors
    ///
    /// The backend does not answer.
    fn compact(&self, revision: Revision) -> BackendFuture<'_, Result<(), BackendError>>;

    /// Succeeds if the backend can be expected to serve reads and writes.
    ///
    /// # Errors
    ///
    /// The backend does not answer.
    fn health(&self) -> BackendFuture<'_, Result<(), BackendError>>;

    /// The key under which the backend has the value of `key`, as others name it: encrypted values are authenticated with it.
    /// Default: the same.
    fn stored_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        Cow::Borrowed(key)
    }

    /// Bytes on disk when the backend last reported them; 0 before. Does not wait.
    fn size(&self) -> u64;

    /// The lasting faults of the backend when it last reported them. Does not wait. Default: none.
    fn alarms(&self) -> Vec<Alarm> {
        Vec::new()
    }

    /// Closes connections without waiting; no method is called afterwards. Default: nothing.
    fn close(&self) {}
}
