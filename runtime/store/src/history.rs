//! The recent changes of one collection.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::{Event, Revision};

/// A watcher's progress through the changes of its collection. Unlike its revision it stays valid while nothing
/// changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub(crate) u64);

/// Events in revision order, addressed by a sequence number that survives trimming.
#[derive(Debug, Default)]
pub(crate) struct History {
    events: VecDeque<Arc<Event>>,
    /// The sequence number of the first event in the history.
    first: u64,
    /// The revision of the last event, even if it is forgotten, or of the state before the first one.
    newest: Revision,
}

impl History {
    pub(crate) fn push(&mut self, event: Arc<Event>) {
        debug_assert!(
            self.events
                .back()
                .is_none_or(|last| last.revision() <= event.revision())
        );
        // A loaded state may be newer than the first events, which are of other keys.
        self.newest = self.newest.max(event.revision());
        self.events.push_back(event);
    }

    /// Records that there was a change at `revision` before the first event.
    pub(crate) fn begin_behind(&mut self, revision: Revision) {
        self.newest = self.newest.max(revision);
    }

    /// The sequence number that the next event will get.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// The sequence numbers of all events in the history.
    pub(crate) fn numbers(&self) -> Range<u64> {
        self.first..self.end()
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// The revision of the newest known change, even if its event is forgotten; zero before the first.
    pub(crate) fn newest(&self) -> Revision {
        self.newest
    }

    /// The sequence number of the first event after `revision`.
    pub(crate) fn after(&self, revision: Revision) -> u64 {
        self.first + self.events.partition_point(|event| event.revision() <= revision) as u64
    }

    /// The events from the sequence number `from` on; `None` when some of them are forgotten.
    pub(crate) fn since(&self, from: u64) -> Option<impl Iterator<Item = &Arc<Event>>> {
        let skip = usize::try_from(from.checked_sub(self.first)?).ok()?;
        Some(self.events.range(skip.min(self.events.len())..))
    }

    /// Removes all events, and takes a sequence number for those that are unknown.
    pub(crate) fn forget_all(&mut self) -> Vec<Arc<Event>> {
        self.first = self.end() + 1;
        std::mem::take(&mut self.events).into()
    }

    /// Removes at most `limit` events up to and including `floor`, which the caller drops outside of locks.
    pub(crate) fn trim(&mut self, floor: Revision, limit: usize) -> Vec<Arc<Event>> {
        let count = self
            .events
            .partition_point(|event| event.revision() <= floor)
            .min(limit);
        self.first += count as u64;
        let trimmed = self.events.drain(..count).collect();
        if self.events.is_empty() {
            self.events.shrink_to(64);
        }
        trimmed
    }
}
