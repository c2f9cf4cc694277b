//! Threads for work with sled, which may fail, panic or hang without blocking other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use planesmith_store::log::LogError;

use crate::errors::failed;

/// Work without progress for this time counts as stuck. A sync may take a while.
const STUCK_AFTER: Duration = Duration::from_secs(120);

/// Reports the progress of work, and cancels it.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    beats: AtomicU64,
    cancelled: AtomicBool,
}

impl Pulse {
    /// Records progress.
    ///
    /// The work was cancelled.
    pub(crate) fn beat(&self) -> Result<(), LogError> {
        self.beats.fetch_add(1, Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(other("the work was cancelled"));
        }
        Ok(())
    }
}

/// A thread that computes a `T`. Cancelled and detached when dropped.
#[derive(Debug)]
pub(crate) struct Worker<T> {
    result: Receiver<Result<T, LogError>>,
    pulse: Arc<Pulse>,
    beats: u64,
    /// The time at which the last progress was seen.
    seen: Instant,
    stuck: Duration,
}

/// The progress of work.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    Running,
    Done(Result<T, LogError>),
    /// It neither ends nor makes progress.
    Stuck,
}

impl<T: Send + 'static> Worker<T> {
    pub(crate) fn start(work: impl FnOnce(&Pulse) -> Result<T, LogError> + Send + 'static) -> Result<Self, LogError> {
        let pulse = Arc::new(Pulse::default());
        let (sender, result) = sync_channel(1);
        let beating = Arc::clone(&pulse);
        let thread = std::thread::Builder::new().name("store-settle".to_owned());
        let started = thread.spawn(move || {
            // A result that is no longer awaited is dropped, and cleans up after itself.
            let _ = sender.send(work(&beating));
        });
        started.map_err(|source| LogError::Io {
            context: "cannot start a thread".to_owned(),
            source,
        })?;
        Ok(Self {
            result,
            pulse,
            beats: 0,
            seen: Instant::now(),
            stuck: STUCK_AFTER,
        })
    }

    /// Waits up to `timeout` for the end of the work.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Outcome<T> {
        match self.result.recv_timeout(timeout) {
            Ok(result) => Outcome::Done(result),
            Err(RecvTimeoutError::Disconnected) => Outcome::Done(Err(other("its thread panicked"))),
            Err(RecvTimeoutError::Timeout) => self.progress(),
        }
    }

    /// The progress of work that has not ended.
    fn progress(&mut self) -> Outcome<T> {
        let beats = self.pulse.beats.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.beats, beats) != beats {
            self.seen = Instant::now();
        }
        if self.seen.elapsed() < self.stuck {
            Outcome::Running
        } else {
            Outcome::Stuck
        }
    }

    /// True if the work neither ends nor makes progress. Does not wait.
    pub(crate) fn is_stuck(&mut self) -> bool {
        matches!(self.progress(), Outcome::Stuck)
    }

    /// Requests the work to stop.
    pub(crate) fn cancel(&self) {
        self.pulse.cancelled.store(true, Ordering::Relaxed);
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.pulse.cancelled.store(true, Ordering::Relaxed);
    }
}

/// An error of the work that is not one of the operating system.
pub(crate) fn other(what: &str) -> LogError {
    failed("use", "the settled state".as_ref())(std::io::Error::other(what.to_owned()))
}

/// The error of work without progress.
pub(crate) fn stuck() -> LogError {
    let source = std::io::Error::new(std::io::ErrorKind::TimedOut, "its thread makes no progress");
    failed("use", "the settled state".as_ref())(source)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::{Outcome, Worker};

    const MOMENT: Duration = Duration::from_millis(10);

    #[test]
    fn work_that_hangs_is_noticed_and_work_that_goes_on_is_not() {
        let (release, blocked) = channel::<()>();
        let mut worker = Worker::start(move |_| {
            let _ = blocked.recv();
            Ok(())
        })
        .unwrap();
        assert!(matches!(worker.wait(MOMENT), Outcome::Running));
        worker.stuck = MOMENT;
        assert!(matches!(worker.wait(2 * MOMENT), Outcome::Stuck));
        drop(release);
        assert!(matches!(worker.wait(Duration::from_secs(10)), Outcome::Done(Ok(()))));
    }

    #[test]
    fn a_panic_is_an_error() {
        let mut worker = Worker::<()>::start(|_| panic!("as sled does")).unwrap();
        assert!(matches!(worker.wait(Duration::from_secs(10)), Outcome::Done(Err(_))));
    }

    #[test]
    fn cancelled_work_ends() {
        let mut worker = Worker::<()>::start(|pulse| {
            loop {
                pulse.beat()?;
            }
        })
        .unwrap();
        worker.cancel();
        assert!(matches!(worker.wait(Duration::from_secs(10)), Outcome::Done(Err(_))));
    }
}
