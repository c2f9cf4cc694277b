//! A reader of one collection's changes.

use std::future::poll_fn;
use std::sync::Arc;

use crate::collection::{At, Collection, Compacted, HistoryRead, ListQuery, Page, Subscribed};
use crate::history::{Change, Position};
use crate::subscribers::{ChangeSignal, Subscription};
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
        "the changes after the watcher's revision were compacted, the oldest known revision is {oldest}; list again and watch from that list's revision"
    )]
    Compacted {
        /// The oldest revision after which a watch can start.
        oldest: Revision,
    },
    /// The store is closed; every change before that was delivered.
    #[error("the store is closed")]
    Closed,
}

impl From<Compacted> for WatchError {
    fn from(Compacted { oldest }: Compacted) -> Self {
        Self::Compacted { oldest }
    }
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
    /// True if events have the state before them.
    needs_previous: bool,
}

impl Collection {
    /// The changes of keys that start with `prefix`.
    ///
    /// With a future revision, the watch starts after it.
    ///
    /// # Errors
    ///
    /// [`WatchError::Compacted`] when changes after the requested revision are forgotten.
    pub fn watch(self: &Arc<Self>, prefix: &str, from: WatchFrom) -> Result<Watcher, WatchError> {
        let revision = match from {
            WatchFrom::Now => None,
            WatchFrom::After(revision) => Some(revision),
        };
        let subscribed = self.subscribe(prefix, revision)?;
        Ok(Watcher::new(Arc::clone(self), subscribed))
    }

    /// The newest entries that `query` selects, and a watcher of every later change under the same prefix: no change is
    /// missed or repeated in between.
    ///
    /// The query's `at`, `start` and `limit` are ignored: the list is of the newest state, and complete.
    #[must_use]
    pub fn list_and_watch(self: &Arc<Self>, query: &ListQuery<'_>) -> (Page, Watcher) {
        let query = ListQuery {
            at: At::Latest,
            start: None,
            limit: None,
            ..*query
        };
        let (page, subscribed) = self.list_and_subscribe(&query);
        (page, Watcher::new(Arc::clone(self), subscribed))
    }
}

impl Watcher {
    fn new(collection: Arc<Collection>, subscribed: Subscribed) -> Self {
        Self {
            collection,
            subscription: subscribed.subscription,
            cursor: subscribed.cursor,
            after: subscribed.progress,
            progress: subscribed.progress,
            needs_previous: true,
        }
    }

    /// The same watcher, whose events may lack the state before: reading old events back from the backend is cheaper then.
    #[must_use]
    pub fn without_previous(mut self) -> Self {
        self.needs_previous = false;
        self
    }

    /// The same watcher, woken together with the others of `group`.
    #[must_use]
    pub fn in_group(mut self, group: &Arc<WakeGroup>) -> Self {
        self.collection.subscribers().regroup(&mut self.subscription, group);
        self
    }

    /// The same watcher, counted by [`Collection::watches_of`].
    #[must_use]
    pub fn of_client(mut self) -> Self {
        self.collection.subscribers().count_as_client(&mut self.subscription);
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
                let events = self.available_within(bytes).await?;
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

    /// The available changes; empty when there are none. Old ones are read back from the backend, which blocks the thread.
    ///
    /// # Errors
    ///
    /// [`WatchError::Compacted`] when the watcher was too slow.
    pub fn try_next(&mut self) -> Result<Vec<Arc<Event>>, WatchError> {
        loop {
            let mut read = self.read(usize::MAX)?;
            if !read.spilled.is_empty() {
                read.events = self.collection.read_back(&read.spilled, self.needs_previous)?;
            }
            if let Some(events) = self.accept(read) {
                return Ok(events);
            }
        }
    }

    /// Like [`Watcher::try_next`], but stops once the objects of the returned changes have `bytes` bytes, and does not block the
    /// thread. Dropping the future loses no change.
    ///
    /// # Errors
    ///
    /// As for [`Watcher::try_next`].
    pub async fn available_within(&mut self, bytes: usize) -> Result<Vec<Arc<Event>>, WatchError> {
        loop {
            let mut read = self.read(bytes)?;
            if !read.spilled.is_empty() {
                let (collection, needs_previous) = (Arc::clone(&self.collection), self.needs_previous);
                let spilled = std::mem::take(&mut read.spilled);
                let reading = tokio::task::spawn_blocking(move || collection.read_back(&spilled, needs_previous));
                // A runtime that shuts down drops the task.
                read.events = reading.await.map_err(|_| WatchError::Closed)??;
            }
            if let Some(events) = self.accept(read) {
                return Ok(events);
            }
        }
    }

    fn read(&self, bytes: usize) -> Result<HistoryRead, Compacted> {
        let wants =
            |change: Change<'_>| change.revision() > self.after && change.key().starts_with(self.subscription.prefix());
        let (from, limits) = ((self.cursor, self.progress), (BATCH, bytes));
        self.collection.read_history(&self.subscription, from, limits, wants)
    }

    /// Moves behind what was read. `None` if there may be more, and no event yet.
    fn accept(&mut self, read: HistoryRead) -> Option<Vec<Arc<Event>>> {
        self.cursor = read.cursor;
        self.progress = self.progress.max(read.complete);
        (!read.events.is_empty() || read.at_end).then_some(read.events)
    }

    /// Returns a signal that tells others, without the watcher, that it has something to read.
    #[must_use]
    pub fn signal(&self) -> ChangeSignal {
        self.subscription.signal()
    }

    /// Its progress, for [`Collection::has_changed`].
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.cursor)
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
