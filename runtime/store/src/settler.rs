//! Lets the backend free disk space: in a thread of its own, repeatedly while it fails.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::authorship::Authorship;
use crate::log::{Log, LogError};
use crate::{AlarmKind, Alarms, Revision};

/// Delay of the next attempt after the first failure; it doubles with each further one, up to the bound.
const RETRY: Duration = Duration::from_secs(5);
const MAX_RETRY: Duration = Duration::from_secs(300);

/// Maximum time that a write waits for space while settling makes no progress.
const SPACE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time without further waits for space after one without success.
const DESPAIR: Duration = Duration::from_secs(2);

/// The changes to be settled, and the progress.
#[derive(Debug)]
pub(crate) struct Settling {
    state: Mutex<State>,
    changed: Condvar,
    /// Changes up to this revision are removed from memory and, where possible, from the disk.
    done: watch::Sender<Revision>,
    first_retry: Duration,
}

#[derive(Debug, Default)]
struct State {
    floor: Revision,
    /// The floor of the last run.
    settled: Revision,
    failures: u32,
    /// The earliest time of the next run after a failed one.
    retry: Option<Instant>,
    /// Numbers of runs that were requested, begun and ended.
    wanted: u64,
    begun: u64,
    ended: u64,
    /// The time of the last progress of a run that has more to do.
    stepped: Option<Instant>,
    /// Until this time, waiting for space is skipped.
    hopeless: Option<Instant>,
    closed: bool,
}

impl State {
    fn is_put_off(&self) -> bool {
        self.retry.is_some_and(|retry| retry > Instant::now())
    }

    /// The time at which a write that waits since `begin` gives up, unless there is progress.
    fn end_of_wait(&self, begin: Instant) -> Instant {
        self.stepped.map_or(begin, |stepped| stepped.max(begin)) + SPACE_TIMEOUT
    }
}

impl Settling {
    pub(crate) fn new(floor: Revision) -> Self {
        Self::with_retry(floor, RETRY)
    }

    fn with_retry(floor: Revision, first_retry: Duration) -> Self {
        let state = State {
            floor,
            settled: floor,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            done: watch::Sender::new(floor),
            first_retry,
        }
    }

    /// Records that history up to `floor` is no longer read.
    pub(crate) fn advance(&self, floor: Revision) {
        let mut state = self.lock();
        state.floor = state.floor.max(floor);
        self.changed.notify_all();
    }

    /// Requests a run, whatever there is to settle.
    pub(crate) fn request(&self) {
        self.lock().wanted += 1;
        self.changed.notify_all();
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Returns once everything up to `revision` is settled as far as possible, or the store closed.
    pub(crate) async fn done(&self, revision: Revision) {
        let mut done = self.done.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = done.wait_for(|done| *done >= revision).await;
    }

    /// Waits until the backend has freed what it can, or `has_room`, as long as there is progress. True if there is room.
    ///
    /// After a recent wait without success, or a failure, it tries again only when it is `urgent`.
    pub(crate) fn make_room(&self, urgent: bool, has_room: impl Fn() -> bool) -> bool {
        let begin = Instant::now();
        let mut state = self.lock();
        let is_hopeless = state.hopeless.is_some_and(|until| until > Instant::now());
        if urgent {
            // A failed run may succeed now, and nothing else frees space.
            state.retry = None;
        } else if is_hopeless || state.is_put_off() {
            return false;
        }
        state.wanted += 1;
        // A running run may have checked before there was anything to settle.
        let awaited = state.begun + 1;
        self.changed.notify_all();
        while !state.closed && state.ended < awaited && Instant::now() < state.end_of_wait(begin) && !state.is_put_off()
        {
            let waited = self.changed.wait_timeout(state, Duration::from_millis(50));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            drop(state);
            if has_room() {
                return true;
            }
            state = self.lock();
        }
        drop(state);
        let found = has_room();
        self.lock().hopeless = (!found).then(|| Instant::now() + DESPAIR);
        found
    }

    /// Lets the backend free what it can, and waits until it has. True if it did not fail.
    pub(crate) fn run_now(&self) -> bool {
        let mut state = self.lock();
        state.retry = None;
        state.wanted += 1;
        // A running run may have checked before there was anything to settle.
        let awaited = state.begun + 1;
        self.changed.notify_all();
        while !state.closed && state.ended < awaited {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.closed && state.failures == 0
    }

    /// Settles with `log` until the store closes, and stores what `authorship` has to store.
    pub(crate) fn run(&self, log: &Arc<dyn Log>, alarms: &Alarms, authorship: &Authorship) {
        while let Some(floor) = self.next() {
            authorship.store_large();
            let result = self.settle(log, floor);
            let mut state = self.lock();
            state.ended = state.begun;
            match result {
                Ok(()) => {
                    (state.failures, state.retry) = (0, None);
                    alarms.clear(AlarmKind::Settling);
                }
                Err(error) => {
                    let pause = self.first_retry.saturating_mul(1 << state.failures.min(16));
                    // A run that was requested meanwhile has more to settle, and may succeed.
                    let pause = match state.wanted > state.begun {
                        true => Duration::ZERO,
                        false => pause.min(MAX_RETRY),
                    };
                    state.retry = Some(Instant::now() + pause);
                    state.failures += 1;
                    let reason = format!("history cannot be settled: {}", error.reason());
                    let cause = std::error::Error::source(&error);
                    alarms.raise(AlarmKind::Settling, reason, &format_args!("{error}; {cause:?}"));
                }
            }
            drop(state);
            self.changed.notify_all();
            self.done.send_replace(floor);
        }
        // A closed store has no more waiters.
        self.done.send_replace(Revision(u64::MAX));
    }

    /// Waits for changes to settle; `None` when the store closes.
    fn next(&self) -> Option<Revision> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            let floor = state.floor;
            let has_news = floor > state.settled || state.wanted > state.begun;
            let failed = state.retry.is_some();
            if (has_news || failed) && !state.is_put_off() {
                state.settled = floor;
                state.begun = state.wanted.max(state.begun + 1);
                state.wanted = state.begun;
                return Some(floor);
            }
            if failed {
                // Nothing more is possible before the next attempt.
                self.done
                    .send_if_modified(|done| std::mem::replace(done, floor.max(*done)) < floor);
            }
            let pause = state.retry.map(|retry| retry.saturating_duration_since(Instant::now()));
            state = match pause {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(pause) => {
                    let waited = self.changed.wait_timeout(state, pause);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn settle(&self, log: &Arc<dyn Log>, floor: Revision) -> Result<(), LogError> {
        let mut steps = log.settled_steps();
        while log.compact(floor)? {
            let last = std::mem::replace(&mut steps, log.settled_steps());
            let mut state = self.lock();
            if steps > last {
                state.stepped = Some(Instant::now());
            }
            if state.closed {
                break;
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    use super::{Authorship, SPACE_TIMEOUT, Settling, State};
    use crate::log::{Batch, Loader, Log, LogError, Opened};
    use crate::{AlarmKind, Alarms, Revision};

    /// A backend that fails this often.
    struct Failing(AtomicU32);

    impl Log for Failing {
        fn load(&self, _loader: &mut dyn Loader) -> Result<Opened, LogError> {
            Ok(Opened::default())
        }

        fn append(&self, _batch: &Batch) -> Result<(), LogError> {
            Ok(())
        }

        fn compact(&self, _floor: Revision) -> Result<bool, LogError> {
            let left = self
                .0
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            left.map_or(Ok(false), |_| Err(LogError::Full))
        }

        fn size(&self) -> u64 {
            0
        }
    }

    /// A backend whose first run fails once `release` says so.
    struct FailingOnce {
        release: Mutex<Receiver<()>>,
        runs: AtomicU32,
    }

    impl Log for FailingOnce {
        fn load(&self, _loader: &mut dyn Loader) -> Result<Opened, LogError> {
            Ok(Opened::default())
        }

        fn append(&self, _batch: &Batch) -> Result<(), LogError> {
            Ok(())
        }

        fn compact(&self, _floor: Revision) -> Result<bool, LogError> {
            match self.runs.fetch_add(1, Ordering::SeqCst) {
                0 => {
                    self.release.lock().unwrap().recv().unwrap();
                    Err(LogError::Full)
                }
                _ => Ok(false),
            }
        }

        fn size(&self) -> u64 {
            0
        }
    }

    #[test]
    fn writes_wait_as_long_as_settling_makes_progress() {
        let (early, late) = (Instant::now(), Instant::now() + Duration::from_secs(100));
        let mut state = State::default();
        assert_eq!(state.end_of_wait(late), late + SPACE_TIMEOUT);
        state.stepped = Some(early);
        assert_eq!(
            state.end_of_wait(late),
            late + SPACE_TIMEOUT,
            "a step of an earlier run"
        );
        state.stepped = Some(late);
        assert_eq!(state.end_of_wait(early), late + SPACE_TIMEOUT);
    }

    /// A backend that has more to do so often, with progress or without.
    struct Slow {
        left: AtomicU32,
        progresses: bool,
    }

    impl Log for Slow {
        fn load(&self, _loader: &mut dyn Loader) -> Result<Opened, LogError> {
            Ok(Opened::default())
        }

        fn append(&self, _batch: &Batch) -> Result<(), LogError> {
            Ok(())
        }

        fn compact(&self, _floor: Revision) -> Result<bool, LogError> {
            Ok(self.left.fetch_sub(1, Ordering::SeqCst) > 1)
        }

        fn settled_steps(&self) -> u64 {
            match self.progresses {
                true => u64::from(u32::MAX - self.left.load(Ordering::SeqCst)),
                false => 0,
            }
        }

        fn size(&self) -> u64 {
            0
        }
    }

    #[test]
    fn a_step_that_does_not_end_is_no_progress() {
        for progresses in [true, false] {
            let left = AtomicU32::new(5);
            let log: Arc<dyn Log> = Arc::new(Slow { left, progresses });
            let settling = Settling::new(Revision::ZERO);
            settling.settle(&log, Revision(1)).unwrap();
            assert_eq!(settling.lock().stepped.is_some(), progresses);
        }
    }

    #[test]
    fn an_urgent_write_waits_for_a_run_of_its_own_when_an_earlier_one_fails() {
        let settling = Arc::new(Settling::with_retry(Revision::ZERO, Duration::from_secs(600)));
        let (sender, release) = channel();
        let log = Arc::new(FailingOnce {
            release: Mutex::new(release),
            runs: AtomicU32::new(0),
        });
        settling.advance(Revision(1));
        let thread = {
            let (settling, log) = (Arc::clone(&settling), Arc::clone(&log) as Arc<dyn Log>);
            let authorship = Authorship::new(Arc::clone(&log));
            std::thread::spawn(move || settling.run(&log, &Alarms::default(), &authorship))
        };
        while log.runs.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        let writer = {
            let (settling, log) = (Arc::clone(&settling), Arc::clone(&log));
            std::thread::spawn(move || {
                settling.make_room(true, || false);
                log.runs.load(Ordering::SeqCst)
            })
        };
        let is_requested = || {
            let state = settling.lock();
            state.wanted > state.begun
        };
        while !is_requested() {
            std::thread::yield_now();
        }
        sender.send(()).unwrap();
        assert_eq!(writer.join().unwrap(), 2, "runs before the writer continues");
        settling.close();
        thread.join().unwrap();
    }

    #[tokio::test]
    async fn a_failed_round_is_an_alarm_and_is_retried_without_any_write() {
        let settling = Arc::new(Settling::with_retry(Revision::ZERO, Duration::from_millis(1)));
        let (alarms, log) = (Alarms::default(), Arc::new(Failing(AtomicU32::new(4))));
        settling.advance(Revision(1));
        let thread = {
            let (settling, alarms, log) = (Arc::clone(&settling), alarms.clone(), Arc::clone(&log) as Arc<dyn Log>);
            let authorship = Authorship::new(Arc::clone(&log));
            std::thread::spawn(move || settling.run(&log, &alarms, &authorship))
        };
        // The first attempt failed.
        settling.done(Revision(1)).await;
        let raised = alarms.all();
        assert!(
            raised
                .iter()
                .all(|alarm| alarm.kind == AlarmKind::Settling && alarm.reason.ends_with("the disk is full"))
        );
        while log.0.load(Ordering::SeqCst) > 0 || !alarms.all().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        settling.close();
        thread.join().unwrap();
    }
}
