//! A reader of one collection's changes.

use std::sync::Arc;

use tokio::sync::watch;

use crate::collection::Collection;
use crate::{Event, Revision};

/// Events that one call of [`Watcher::next`] returns at most.
const BATCH: usize = 256;

/// Where a watch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchFrom {
    /// With the first change after this revision.
    After(Revision),
    /// With the next change.
    Now,
}

/// Why a watch cannot start or go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// Changes that the watcher has not seen are gone: list again and watch from that revision.
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
/// A watcher is a cursor into the history that all watchers share. It queues nothing: being slow
/// costs nothing until the history has moved past the cursor, which is reported as
/// [`WatchError::Compacted`].
#[derive(Debug)]
pub struct Watcher {
    collection: Arc<Collection>,
    prefix: Box<str>,
    /// The sequence number of the next event to look at.
    cursor: u64,
    /// Changes up to here are not for this watcher; matters when it is still to come.
    after: Revision,
    progress: Revision,
    wake: watch::Receiver<Signal>,
}

/// How far a watcher got with the changes of its collection. Unlike its revision it stays good while nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub(crate) u64);

/// What wakes watchers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signal {
    /// The sequence number behind the newest event.
    pub(crate) end: u64,
    pub(crate) closed: bool,
}

impl Watcher {
    pub(crate) fn new(
        collection: Arc<Collection>,
        prefix: &str,
        cursor: u64,
        after: Revision,
        wake: watch::Receiver<Signal>,
    ) -> Self {
        Self {
            collection,
            prefix: prefix.into(),
            cursor,
            after,
            progress: after,
            wake,
        }
    }

    /// The next changes, oldest first, at least one and at most a few hundred.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// [`WatchError::Compacted`] when the watcher was too slow, [`WatchError::Closed`] when the
    /// store was closed and everything before was delivered.
    pub async fn next(&mut self) -> Result<Vec<Arc<Event>>, WatchError> {
        loop {
            // Marked as seen before reading, so that what comes later wakes again.
            let Signal { end, closed } = *self.wake.borrow_and_update();
            // Mostly the events of one signal were returned by the last call, and there is nothing to look for.
            if end != self.cursor {
                let events = self.try_next()?;
                if !events.is_empty() {
                    return Ok(events);
                }
            }
            if closed || self.wake.changed().await.is_err() {
                return Err(WatchError::Closed);
            }
        }
    }

    /// The changes that are there already; empty when there are none.
    ///
    /// # Errors
    ///
    /// [`WatchError::Compacted`] when the watcher was too slow.
    pub fn try_next(&mut self) -> Result<Vec<Arc<Event>>, WatchError> {
        loop {
            let read = self.collection.read_history(self, BATCH)?;
            self.cursor = read.cursor;
            self.progress = self.progress.max(read.complete);
            if !read.events.is_empty() || read.at_end {
                return Ok(read.events);
            }
        }
    }

    /// How far it got, for [`Collection::has_changed`].
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.cursor)
    }

    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Whether `event` is one of those that were asked for.
    pub(crate) fn wants(&self, event: &Event) -> bool {
        event.revision() > self.after && event.entry().key().starts_with(&*self.prefix)
    }

    /// The revision up to which everything was returned by now. Never decreases.
    ///
    /// It moves on only when the watcher reads, so that a bookmark with this revision never
    /// overtakes an event.
    #[must_use]
    pub fn progress(&self) -> Revision {
        self.progress
    }
}

/// What one look into the history found.
pub(crate) struct HistoryRead {
    pub(crate) events: Vec<Arc<Event>>,
    /// Where to go on.
    pub(crate) cursor: u64,
    /// Everything up to here was looked at.
    pub(crate) complete: Revision,
    pub(crate) at_end: bool,
}
