//! The recent changes of one collection.

mod spilled;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use self::spilled::{SpilledEvent, SpilledEvents};
use crate::{Entry, Event, EventKind, Revision};

/// A watcher's progress through the changes of its collection. Unlike its revision it stays valid while nothing
/// changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub(crate) u64);

/// Events in revision order, addressed by a sequence number that survives trimming. The older ones may be spilled: their
/// states are in the backend only.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Older than all `events`.
    spilled: SpilledEvents,
    events: VecDeque<Arc<Event>>,
    /// The sequence number of the first event in the history.
    first: u64,
    /// The revision of the last event, even if it is forgotten, or of the state before the first one.
    newest: Revision,
    /// Bytes of the objects of all events.
    bytes: u64,
}

/// A change in the history.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Cached(&'a Arc<Event>),
    Spilled(&'a SpilledEvent),
}

/// The state of a key before a change.
#[derive(Clone, Debug)]
pub(crate) enum Former {
    Absent,
    Cached(Arc<Entry>),
    /// The state that the write with this revision led to.
    Spilled(Revision),
}

/// Changes that the history does not have any more, to be dropped outside of locks.
#[derive(Debug, Default)]
pub(crate) struct Forgotten {
    spilled: Vec<SpilledEvent>,
    events: Vec<Arc<Event>>,
}

impl<'a> Change<'a> {
    pub(crate) fn key(self) -> &'a str {
        match self {
            Self::Cached(event) => event.entry().key(),
            Self::Spilled(event) => event.keyed_row.key(),
        }
    }

    pub(crate) fn revision(self) -> Revision {
        match self {
            Self::Cached(event) => event.revision(),
            Self::Spilled(event) => event.revision,
        }
    }

    pub(crate) fn is_deletion(self) -> bool {
        match self {
            Self::Cached(event) => event.kind() == EventKind::Delete,
            Self::Spilled(event) => event.is_deletion,
        }
    }

    /// Bytes of the object.
    pub(crate) fn length(self) -> usize {
        match self {
            Self::Cached(event) => event.entry().size(),
            Self::Spilled(event) => event.length as usize,
        }
    }

    pub(crate) fn former(self) -> Former {
        match self {
            Self::Cached(event) => event
                .previous()
                .map_or(Former::Absent, |entry| Former::Cached(Arc::clone(entry))),
            Self::Spilled(event) if event.previous == Revision::ZERO => Former::Absent,
            Self::Spilled(event) => Former::Spilled(event.previous),
        }
    }
}

impl Forgotten {
    pub(crate) fn len(&self) -> usize {
        self.spilled.len() + self.events.len()
    }

    /// The keys of the changes, in their order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let spilled = self.spilled.iter().map(|event| event.keyed_row.key());
        spilled.chain(self.events.iter().map(|event| event.entry().key()))
    }
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
        self.bytes += event.entry().size() as u64;
        self.events.push_back(event);
    }

    /// Adds a loaded change. All of these come before the events.
    pub(crate) fn push_spilled(&mut self, event: SpilledEvent) {
        debug_assert!(self.events.is_empty(), "spilled changes are older than all others");
        self.newest = self.newest.max(event.revision);
        self.bytes += u64::from(event.length);
        self.spilled.push(event);
    }

    /// Records that there was a change at `revision` before the first event.
    pub(crate) fn begin_behind(&mut self, revision: Revision) {
        self.newest = self.newest.max(revision);
    }

    /// The sequence number that the next event will get.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.len() as u64
    }

    /// The sequence numbers of all events in the history.
    pub(crate) fn numbers(&self) -> Range<u64> {
        self.first..self.end()
    }

    pub(crate) fn len(&self) -> usize {
        self.spilled.len() + self.events.len()
    }

    /// The number of changes whose states are in the backend only.
    pub(crate) fn spilled(&self) -> usize {
        self.spilled.len()
    }

    /// Bytes of the objects of all events.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The revision of the newest known change, even if its event is forgotten; zero before the first.
    pub(crate) fn newest(&self) -> Revision {
        self.newest
    }

    /// The sequence number of the first event after `revision`.
    pub(crate) fn after(&self, revision: Revision) -> u64 {
        let cached = self.events.partition_point(|event| event.revision() <= revision);
        let spilled = match cached {
            0 => self.spilled.count_to(revision),
            _ => self.spilled.len(),
        };
        self.first + (spilled + cached) as u64
    }

    /// The changes from the sequence number `from` on; `None` when some of them are forgotten.
    pub(crate) fn since(&self, from: u64) -> Option<impl Iterator<Item = Change<'_>>> {
        let skip = usize::try_from(from.checked_sub(self.first)?).ok()?;
        let cached = skip.saturating_sub(self.spilled.len()).min(self.events.len());
        let spilled = self.spilled.since(skip).map(Change::Spilled);
        Some(spilled.chain(self.events.range(cached..).map(Change::Cached)))
    }

    /// Removes all events, and takes a sequence number for those that are unknown.
    pub(crate) fn forget_all(&mut self) -> Forgotten {
        self.first = self.end() + 1;
        self.bytes = 0;
        self.spilled = SpilledEvents::default();
        Forgotten {
            spilled: Vec::new(),
            events: std::mem::take(&mut self.events).into(),
        }
    }

    /// Removes at most `limit` events up to and including `floor`.
    pub(crate) fn trim(&mut self, floor: Revision, limit: usize) -> Forgotten {
        let mut forgotten = Forgotten::default();
        while forgotten.spilled.len() < limit && self.spilled.first().is_some_and(|event| event.revision <= floor) {
            forgotten.spilled.extend(self.spilled.pop());
        }
        if self.spilled.len() == 0 {
            forgotten.events = self.take(floor, limit - forgotten.spilled.len());
        }
        let spilled = forgotten.spilled.iter().map(|event| u64::from(event.length));
        let cached = forgotten.events.iter().map(|event| event.entry().size() as u64);
        self.bytes -= spilled.chain(cached).sum::<u64>();
        self.first += forgotten.len() as u64;
        forgotten
    }

    /// Leaves the states of at most `limit` events up to and including `revision` to the backend. The result is to be
    /// dropped outside of locks.
    pub(crate) fn spill(&mut self, revision: Revision, limit: usize) -> Vec<Arc<Event>> {
        let spilled = self.take(revision, limit);
        for event in &spilled {
            self.spilled.push(SpilledEvent {
                keyed_row: event.entry().keyed_row().clone(),
                revision: event.revision(),
                previous: event.previous().map_or(Revision::ZERO, |entry| entry.revision()),
                length: u32::try_from(event.entry().size()).unwrap_or(u32::MAX),
                is_deletion: event.kind() == EventKind::Delete,
            });
        }
        spilled
    }

    /// The revision up to which the first events have to go so that the objects of the others have `bytes` bytes at most.
    pub(crate) fn floor_for(&self, bytes: u64) -> Revision {
        let mut left = self.bytes;
        let changes = self.since(self.first).into_iter().flatten();
        let excess = changes.take_while(|change| {
            let is_over = left > bytes;
            left = left.saturating_sub(change.length() as u64);
            is_over
        });
        excess.last().map_or(Revision::ZERO, Change::revision)
    }

    fn take(&mut self, revision: Revision, limit: usize) -> Vec<Arc<Event>> {
        let count = self
            .events
            .partition_point(|event| event.revision() <= revision)
            .min(limit);
        let taken = self.events.drain(..count).collect();
        if self.events.is_empty() {
            self.events.shrink_to(64);
        }
        taken
    }
}
