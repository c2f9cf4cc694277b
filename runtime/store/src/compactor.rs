//! Forgets history in the background: changes that are too old or too many, in small steps.

mod mark_queue;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

pub(crate) use self::mark_queue::{Ages, Limits, Mark, MarkQueue};
use crate::collections::Collections;
use crate::log::Log;
use crate::options::StorageOptions;
use crate::revision_window::RevisionWindow;
use crate::settler::Settling;
use crate::{Collection, Revision};
use planesmith_clock::Clock;

/// Maximum number of events that one collection forgets or spills under one lock.
const STEP: usize = 512;

/// The shortest sleep of the compactor, so that it handles many due marks at once.
const PAUSE: Duration = Duration::from_secs(10);

/// The marks of all batches in the history; decides which changes to forget, and which to leave to the backend.
pub(crate) struct Marks {
    state: Mutex<State>,
    changed: Condvar,
    /// The age up to which collections without a limit of their own keep changes, and that of the store as a whole.
    default_window: u64,
    window: u64,
    memory_limit: usize,
    disk_limit: u64,
    clock: Arc<dyn Clock>,
    /// Reports how much history the disk can store.
    log: Arc<dyn Log>,
    spills: bool,
    /// The last requested pass that has ended.
    passed: watch::Sender<u64>,
    /// True if some collections have limits of their own, which are checked after every pause.
    has_own_limits: bool,
}

#[derive(Debug, Default)]
struct State {
    queue: MarkQueue,
    /// The floor that a caller requested.
    wanted: Revision,
    /// Numbers of the requested and of the begun passes.
    nudges: u64,
    begun: u64,
    closed: bool,
}

/// The next work of the compactor.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Changes up to this revision are forgotten.
    floor: Revision,
    /// Changes up to this revision are left to the backend.
    spill: Revision,
    /// The last requested pass that this one answers.
    nudge: u64,
}

impl Marks {
    pub(crate) fn new(options: &StorageOptions, loaded: MarkQueue, log: Arc<dyn Log>) -> Self {
        let state = State {
            queue: loaded,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            default_window: millis(options.window),
            window: millis(options.longest_window()),
            memory_limit: options.history_bytes,
            disk_limit: options.journal_bytes,
            clock: Arc::clone(&options.clock),
            spills: log.keeps_history(),
            has_own_limits: !options.kinds.is_empty(),
            passed: watch::Sender::new(0),
            log,
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            memory: self.memory_limit,
            disk: self.disk_limit.min(self.log.history_limit()),
            spills: self.spills,
        }
    }

    /// Forgets at once the history that exceeds the limit of the disk, or all of it when the space is needed by writes that have
    /// no other (`urgent`). Returns the resulting floor.
    pub(crate) fn forget_for_space(&self, urgent: bool) -> Revision {
        let ages = Ages::new(self.clock.unix_millis(), self.window);
        let mut limits = self.limits();
        // In a backend that does not limit history, forgetting it frees nothing.
        if urgent && self.log.history_limit() < u64::MAX {
            limits.disk = 0;
        }
        let mut state = self.lock();
        let wanted = state.wanted;
        let floor = state.queue.forget(ages, None, wanted, limits);
        // Readers, and the events that they would read, are left to the compactor's thread.
        state.wanted = floor;
        self.changed.notify_one();
        floor
    }

    /// Adds the mark of the newest batch.
    pub(crate) fn push(&self, mark: Mark) {
        let mut state = self.lock();
        let was_empty = state.queue.is_empty();
        state.queue.push(mark);
        // The first mark starts the clock of an idle compactor.
        if was_empty || state.queue.exceeds(self.limits()) {
            self.changed.notify_one();
        }
    }

    /// Forgets all changes up to `revision` soon.
    pub(crate) fn compact_to(&self, revision: Revision) {
        let mut state = self.lock();
        state.wanted = state.wanted.max(revision);
        self.changed.notify_one();
    }

    /// Requests a pass of the compactor. Returns its number.
    pub(crate) fn nudge(&self) -> u64 {
        let mut state = self.lock();
        state.nudges += 1;
        self.changed.notify_one();
        state.nudges
    }

    /// Returns once the requested pass has ended, or the store closed.
    #[cfg(feature = "conformance")]
    pub(crate) async fn passed(&self, nudge: u64) {
        let mut passed = self.passed.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = passed.wait_for(|passed| *passed >= nudge).await;
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// The floor of a collection that keeps changes for `window` (default: that of the store).
    fn floor_at(&self, window: Option<Duration>) -> Revision {
        let window = window.map_or(self.default_window, millis);
        if window >= self.window {
            return Revision::ZERO;
        }
        self.lock()
            .queue
            .last_at(self.clock.unix_millis().saturating_sub(window))
    }

    /// Changes up to this revision are left to the backend.
    pub(crate) fn spilled_through(&self) -> Revision {
        self.lock().queue.spilled_through()
    }

    /// Waits until there is something to forget or to spill; `None` when the store closes.
    fn next_task(&self, current: Revision, revisions: &RevisionWindow) -> Option<Task> {
        let mut state = self.lock();
        let mut paused = false;
        loop {
            if state.closed {
                return None;
            }
            let nudged = state.nudges > state.begun || (paused && self.has_own_limits);
            let now = self.clock.unix_millis();
            let wanted = std::mem::take(&mut state.wanted);
            let spill = state.queue.spill(self.limits());
            let held = revisions.oldest_held(now, self.window);
            let ages = Ages::new(now, self.window);
            let floor = state.queue.forget(ages, held, wanted, self.limits());
            if floor > current || spill > Revision::ZERO || nudged {
                state.begun = state.nudges;
                let nudge = state.begun;
                return Some(Task { floor, spill, nudge });
            }
            let due = state.queue.first().map(|mark| match self.has_own_limits {
                true => 0,
                false => (mark.at + self.window).saturating_sub(now),
            });
            state = self.sleep(state, due.map(Duration::from_millis));
            paused = true;
        }
    }

    /// Sleeps for at least the pause, unless there is urgent work.
    fn sleep<'a>(&self, state: MutexGuard<'a, State>, due: Option<Duration>) -> MutexGuard<'a, State> {
        let idle = |state: &mut State| {
            let is_over = state.queue.exceeds(self.limits());
            !is_over && state.nudges == state.begun && !state.closed && state.wanted == Revision::ZERO
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

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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
        while let Some(Task { floor, spill, nudge }) = self.marks.next_task(trimmed, &self.revisions) {
            // New readers are refused before history is dropped.
            self.revisions.raise_floor(floor);
            for collection in self.collections.all() {
                self.apply(&collection, floor, spill);
            }
            if floor > trimmed {
                self.collections.forget_unused();
                trimmed = floor;
                self.settling.advance(floor);
            }
            self.marks.passed.send_replace(nudge);
        }
        self.marks.passed.send_replace(u64::MAX);
        self.settling.close();
    }

    fn apply(&self, collection: &Collection, floor: Revision, spill: Revision) {
        let limits = collection.history_limits();
        let by_size = limits.bytes.map_or(Revision::ZERO, |bytes| collection.floor_for(bytes));
        let own = self.marks.floor_at(limits.window).max(by_size);
        let own = self.revisions.not_beyond_held(own);
        if own > floor {
            collection.raise_floor(own);
        }
        while collection.trim(floor.max(own), STEP) == STEP {
            std::thread::yield_now();
        }
        while collection.spill(spill, STEP) == STEP {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Mark, MarkQueue, Marks};
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
            at: options.clock.unix_millis() + revision * 1000,
            memory: 1,
            spilled: 1,
            disk: 1,
        };
        let mut loaded = MarkQueue::default();
        (1..=3).for_each(|revision| loaded.push(mark(revision)));
        Marks::new(&options, loaded, Arc::new(Limited(history_limit))).forget_for_space(urgent)
    }

    #[test]
    fn writes_that_have_no_other_space_get_that_of_all_history() {
        assert_eq!(floor(2, false), Revision(1));
        assert_eq!(floor(2, true), Revision(3));
        assert_eq!(floor(u64::MAX, true), Revision::ZERO, "nothing would become free");
    }
}
