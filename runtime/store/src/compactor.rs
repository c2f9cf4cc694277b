//! Forgets history in the background: changes that are too old or too many, in small steps.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Revision;
use crate::clock::Clock;
use crate::collections::Collections;
use crate::log::{Batch, Log};
use crate::options::StorageOptions;
use crate::revision_window::RevisionWindow;
use crate::settler::Settling;

/// Maximum number of events that one collection forgets under one lock.
const STEP: usize = 512;

/// The shortest sleep of the compactor, so that it handles many due marks at once.
const PAUSE: Duration = Duration::from_secs(10);

/// The time at which one batch was written, and the cost of keeping its history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) revision: Revision,
    /// Milliseconds since 1970.
    pub(crate) at: u64,
    /// Bytes of superseded states.
    pub(crate) memory: usize,
    /// Bytes on disk.
    pub(crate) disk: u64,
}

impl Mark {
    pub(crate) fn of(batch: &Batch, memory: usize) -> Option<Self> {
        let size = |bytes: usize| bytes as u64;
        let disk = batch
            .records
            .iter()
            .map(|record| size(record.bytes.len() + record.key.len() + 32));
        let revision = batch.records.last()?.revision;
        Some(Self {
            revision,
            at: batch.at,
            memory,
            disk: disk.sum(),
        })
    }
}

/// The marks of all batches in the history; decides which changes to forget.
pub(crate) struct Marks {
    state: Mutex<State>,
    changed: Condvar,
    window: u64,
    memory_limit: usize,
    disk_limit: u64,
    clock: Arc<dyn Clock>,
    /// Reports how much history the disk can store.
    log: Arc<dyn Log>,
}

#[derive(Debug, Default)]
struct State {
    marks: VecDeque<Mark>,
    memory: usize,
    disk: u64,
    /// The floor that a caller requested.
    wanted: Revision,
    nudged: bool,
    closed: bool,
}

impl Marks {
    pub(crate) fn new(options: &StorageOptions, loaded: VecDeque<Mark>, log: Arc<dyn Log>) -> Self {
        let state = State {
            memory: loaded.iter().map(|mark| mark.memory).sum(),
            disk: loaded.iter().map(|mark| mark.disk).sum(),
            marks: loaded,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            window: u64::try_from(options.window.as_millis()).unwrap_or(u64::MAX),
            memory_limit: options.history_bytes,
            disk_limit: options.journal_bytes,
            clock: Arc::clone(&options.clock),
            log,
        }
    }

    /// Maximum bytes of history on the disk now.
    fn disk_limit(&self) -> u64 {
        self.disk_limit.min(self.log.history_limit())
    }

    /// Forgets at once the history that exceeds the limit of the disk, or all of it when the space is needed by writes that have
    /// no other (`urgent`). Returns the resulting floor.
    pub(crate) fn forget_for_space(&self, urgent: bool) -> Revision {
        let oldest = self.clock.now().saturating_sub(self.window);
        let mut state = self.lock();
        // In a backend that does not limit history, forgetting it frees nothing.
        let is_limited = self.log.history_limit() < u64::MAX;
        let disk_limit = if urgent && is_limited { 0 } else { self.disk_limit() };
        let floor = state.forget(oldest, self.memory_limit, disk_limit);
        // Readers, and the events that they would read, are left to the compactor's thread.
        state.wanted = state.wanted.max(floor);
        self.changed.notify_one();
        floor
    }

    /// Adds the mark of the newest batch.
    pub(crate) fn push(&self, mark: Mark) {
        let mut state = self.lock();
        state.memory += mark.memory;
        state.disk += mark.disk;
        state.marks.push_back(mark);
        let over = state.memory > self.memory_limit || state.disk > self.disk_limit();
        // The first mark starts the clock of an idle compactor.
        if over || state.marks.len() == 1 {
            self.changed.notify_one();
        }
    }

    /// Forgets all changes up to `revision` soon.
    pub(crate) fn compact_to(&self, revision: Revision) {
        let mut state = self.lock();
        state.wanted = state.wanted.max(revision);
        self.changed.notify_one();
    }

    pub(crate) fn nudge(&self) {
        self.lock().nudged = true;
        self.changed.notify_one();
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Waits for the next floor; `None` when the store closes.
    fn next_floor(&self, current: Revision) -> Option<Revision> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            state.nudged = false;
            let now = self.clock.now();
            let floor = state.forget(now.saturating_sub(self.window), self.memory_limit, self.disk_limit());
            if floor > current {
                return Some(floor);
            }
            let due = state
                .marks
                .front()
                .map(|mark| (mark.at + self.window).saturating_sub(now));
            state = self.sleep(state, due.map(Duration::from_millis));
        }
    }

    /// Sleeps for at least the pause, unless there is urgent work.
    fn sleep<'a>(&self, state: MutexGuard<'a, State>, due: Option<Duration>) -> MutexGuard<'a, State> {
        let idle = |state: &mut State| {
            let over = state.memory > self.memory_limit || state.disk > self.disk_limit();
            !over && !state.nudged && !state.closed && state.wanted == Revision::ZERO
        };
        let Some(due) = due else {
            let waited = self.changed.wait(state);
            return waited.unwrap_or_else(PoisonError::into_inner);
        };
        let waited = self.changed.wait_timeout_while(state, due.max(PAUSE), idle);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Drops the marks that are too old or exceed a limit. Returns the resulting floor.
    fn forget(&mut self, oldest: u64, memory_limit: usize, disk_limit: u64) -> Revision {
        let mut floor = std::mem::take(&mut self.wanted);
        while let Some(mark) = self.marks.front() {
            let over = self.memory > memory_limit || self.disk > disk_limit;
            if !over && mark.at > oldest && mark.revision > floor {
                break;
            }
            floor = floor.max(mark.revision);
            self.memory -= mark.memory;
            self.disk -= mark.disk;
            self.marks.pop_front();
        }
        floor
    }
}

/// Frees history, for writers that need space.
#[derive(Clone)]
pub(crate) struct Retention {
    pub(crate) marks: Arc<Marks>,
    pub(crate) settling: Arc<Settling>,
    pub(crate) revisions: Arc<RevisionWindow>,
}

impl Retention {
    /// Forgets and settles history until `has_room`, within a time limit. True if there is room. When it is `urgent`, no history is
    /// kept: the deletions in it may take the space that the next one needs.
    pub(crate) fn make_room(&self, urgent: bool, has_room: impl Fn() -> bool) -> bool {
        let floor = self.marks.forget_for_space(urgent);
        // New readers are refused before history is dropped.
        self.revisions.raise_floor(floor);
        self.settling.advance(floor);
        self.settling.make_room(urgent, has_room)
    }
}

/// The thread that forgets history. It never waits for the backend, so that the memory of history stays bounded
/// whatever the disk does.
pub(crate) struct Compactor {
    marks: Arc<Marks>,
    settling: Arc<Settling>,
    revisions: Arc<RevisionWindow>,
    collections: Collections,
}

impl Compactor {
    pub(crate) fn new(
        marks: Arc<Marks>,
        settling: Arc<Settling>,
        revisions: Arc<RevisionWindow>,
        collections: Collections,
    ) -> Self {
        Self {
            marks,
            settling,
            revisions,
            collections,
        }
    }

    pub(crate) fn run(self) {
        let mut trimmed = self.revisions.oldest();
        while let Some(floor) = self.marks.next_floor(trimmed) {
            // New readers are refused before history is dropped.
            self.revisions.raise_floor(floor);
            for collection in self.collections.all() {
                while collection.trim(floor, STEP) == STEP {
                    std::thread::yield_now();
                }
            }
            self.collections.forget_unused();
            trimmed = floor;
            self.settling.advance(floor);
        }
        self.settling.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Mark, Marks};
    use crate::log::{Batch, Loader, Log, LogError, Opened};
    use crate::{Revision, StorageOptions};

    /// A backend with space for so many bytes of history.
    struct Limited(u64);

    impl Log for Limited {
        fn load(&self, _loader: &mut dyn Loader) -> Result<Opened, LogError> {
            Ok(Opened::default())
        }

        fn append(&self, _batch: &Batch) -> Result<(), LogError> {
            Ok(())
        }

        fn compact(&self, _floor: Revision) -> Result<bool, LogError> {
            Ok(false)
        }

        fn history_limit(&self) -> u64 {
            self.0
        }

        fn size(&self) -> u64 {
            0
        }
    }

    fn floor(history_limit: u64, urgent: bool) -> Revision {
        let options = StorageOptions::default();
        let mark = |revision| Mark {
            revision: Revision(revision),
            at: options.clock.now(),
            memory: 1,
            disk: 1,
        };
        let loaded = (1..=3).map(mark).collect();
        Marks::new(&options, loaded, Arc::new(Limited(history_limit))).forget_for_space(urgent)
    }

    #[test]
    fn writes_that_have_no_other_space_get_that_of_all_history() {
        assert_eq!(floor(2, false), Revision(1));
        assert_eq!(floor(2, true), Revision(3));
        assert_eq!(floor(u64::MAX, true), Revision::ZERO, "nothing would become free");
    }
}
