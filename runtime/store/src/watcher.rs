//! A reader of one collection's changes.

use std::future::poll_fn;
use std::sync::Arc;

use crate::collection::Collection;
use crate::subscribers::Subscription;
use crate::{Event, Revision, WakeGroup};

/// Maximum number of events that one call of [`Watcher::next`] returns.
const BATCH: usize = 256;

/// The start of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchFrom {
    /// With the first change after this revision.
    After(Revision),
    /// With the next change.
    Now,
}

/// The reason that a watch cannot start or continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// Changes that the watcher has not seen are forgotten: list again and watch from that revision.
    #[error(
        "the changes after the watcher's revision are gone, the oldest known revision is {oldest}; list again and watch from that list's revision"
    )]
    Compacted {
        /// The oldest revision after which a watch can start.
        oldest: Revision,
    },
    /// The store is closed; every change before that was delivered.
    #[error("the store is closed")]
    Closed,
}

/// Delivers the changes under a prefix, each once, in revision order.
///
/// A watcher is a cursor into the history that all watchers share. It queues nothing: being slow costs nothing until
/// the history has forgotten changes that it has not returned, which is reported as [`WatchError::Compacted`].
#[derive(Debug)]
pub struct Watcher {
    collection: Arc<Collection>,
    subscription: Subscription,
    /// The sequence number of the next event to read.
    cursor: u64,
    /// Changes up to this revision are skipped; relevant for a future revision.
    after: Revision,
    progress: Revision,
}

/// A watcher's progress through the changes of its collection. Unlike its revision it stays valid while nothing
/// changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub(crate) u64);

impl Watcher {
    pub(crate) fn new(collection: Arc<Collection>, subscription: Subscription, cursor: u64, after: Revision) -> Self {
        Self {
            collection,
            subscription,
            cursor,
            after,
            progress: after,
        }
    }

    /// The same watcher, woken together with the others of `group`.
    #[must_use]
    pub fn in_group(mut self, group: &Arc<WakeGroup>) -> Self {
        self.collection.subscribers().regroup(&mut self.subscription, group);
        self
    }

    /// The next changes, oldest first, at least one and at most a few hundred.
    ///
    /// Dropping the future loses no change.
    ///
    /// # Errors
    ///
    /// [`WatchError::Compacted`] when the watcher was too slow, [`WatchError::Closed`] when the store was closed and
    /// all earlier changes were delivered.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>, WatchError> {
        self.next_within(usize::MAX).await
    }

    /// Like [`Watcher::next`], but stops once the objects of the returned changes have `bytes` bytes.
    ///
    /// # Errors
    ///
    /// As for [`Watcher::next`].
    pub async fn next_within(&mut self, bytes: usize) -> Result<Vec<Arc<Event>>, WatchError> {
        loop {
            // Read before the events, after which none follows.
            let closed = self.collection.subscribers().is_closed();
            if self.subscription.has_events(self.cursor) {
                let events = self.try_next_within(bytes)?;
                if !events.is_empty() {
                    return Ok(events);
                }
            }
            if closed {
                return Err(WatchError::Closed);
            }
            let (collection, subscription, cursor) = (&self.collection, &self.subscription, self.cursor);
            poll_fn(|cx| subscription.poll_events(collection.subscribers(), cursor, cx)).await;
        }
    }

    /// The available changes; empty when there are none.
    ///
    /// # Errors
    ///
    /// [`WatchError::Compacted`] when the watcher was too slow.
    pub fn try_next(&mut self) -> Result<Vec<Arc<Event>>, WatchError> {
        self.try_next_within(usize::MAX)
    }

    /// Like [`Watcher::try_next`], but stops once the objects of the returned changes have `bytes` bytes.
    ///
    /// # Errors
    ///
    /// As for [`Watcher::try_next`].
    pub fn try_next_within(&mut self, bytes: usize) -> Result<Vec<Arc<Event>>, WatchError> {
        loop {
            let read = self.collection.read_history(self, BATCH, bytes)?;
            self.cursor = read.cursor;
            self.progress = self.progress.max(read.complete);
            if !read.events.is_empty() || read.at_end {
                return Ok(read.events);
            }
        }
    }

    /// Its progress, for [`Collection::has_changed`].
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.cursor)
    }

    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    pub(crate) fn subscription(&self) -> &Subscription {
        &self.subscription
    }

    /// True if the watcher reports `event`.
    pub(crate) fn wants(&self, event: &Event) -> bool {
        event.revision() > self.after && event.entry().key().starts_with(self.subscription.prefix())
    }

    /// The revision up to which all changes were returned. Never decreases.
    ///
    /// It advances only when the watcher reads, so that a bookmark with this revision never overtakes an event.
    #[must_use]
    pub fn progress(&self) -> Revision {
        self.progress
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.collection.subscribers().unsubscribe(&self.subscription);
    }
}

/// Changes read from the history.
pub(crate) struct HistoryRead {
    pub(crate) events: Vec<Arc<Event>>,
    /// The sequence number of the next event to read.
    pub(crate) cursor: u64,
    /// The revision up to which all changes were read.
    pub(crate) complete: Revision,
    pub(crate) at_end: bool,
}
