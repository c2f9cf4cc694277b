//! The progress of long work, for people who wait for it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Amount;

/// Time before the first report, and between two.
const INTERVAL: Duration = Duration::from_secs(1);

/// The progress of long work on a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The objects and bytes that are handled.
    pub done: Amount,
    /// Approximate bytes in all; 0 if they are not known.
    pub total: u64,
    /// Time since the work began.
    pub elapsed: Duration,
}

impl Progress {
    /// The approximate time left; `None` if the bytes in all are not known.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        if self.total == 0 || self.done.bytes == 0 {
            return None;
        }
        let left = self.total.saturating_sub(self.done.bytes) as f64 / self.done.bytes as f64;
        Some(self.elapsed.mul_f64(left))
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let Amount { objects, bytes } = self.done;
        write!(formatter, "{objects} objects, {:.1} MB", megabytes(bytes))?;
        if let Some(left) = self.left() {
            let total = megabytes(self.total.max(bytes));
            write!(formatter, " of {total:.1} MB, {:.0} s left", left.as_secs_f64())?;
        }
        Ok(())
    }
}

/// Receives the progress of work that takes longer than a second, about once a second. Default: none.
#[derive(Clone)]
pub struct OnProgress(Arc<dyn Fn(&Progress) + Send + Sync>);

impl OnProgress {
    /// Calls `report` with the progress, in the thread that works.
    pub fn new(report: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }
}

impl Default for OnProgress {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for OnProgress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OnProgress")
    }
}

/// Counts work, and reports it when it is time.
#[derive(Debug)]
pub(crate) struct Reporter {
    on_progress: OnProgress,
    interval: Duration,
    started: Instant,
    /// The time of the last report, since the start.
    reported: Duration,
    done: Amount,
    total: u64,
}

impl Reporter {
    pub(crate) fn new(on_progress: OnProgress) -> Self {
        Self::at_intervals(on_progress, INTERVAL)
    }

    fn at_intervals(on_progress: OnProgress, interval: Duration) -> Self {
        Self {
            on_progress,
            interval,
            started: Instant::now(),
            reported: Duration::ZERO,
            done: Amount::default(),
            total: 0,
        }
    }

    /// Records the approximate bytes in all.
    pub(crate) fn expect(&mut self, bytes: u64) {
        self.total = bytes;
    }

    /// Records that `objects` more objects of `bytes` bytes are handled.
    pub(crate) fn note(&mut self, objects: u64, bytes: u64) {
        self.done.objects += objects;
        self.done.bytes += bytes;
        let elapsed = self.started.elapsed();
        if elapsed < self.reported + self.interval {
            return;
        }
        self.reported = elapsed;
        (self.on_progress.0)(&Progress {
            done: self.done,
            total: self.total,
            elapsed,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn work_is_reported_at_intervals_with_what_is_done() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let note = Arc::clone(&seen);
        let on_progress = OnProgress::new(move |progress| note.lock().unwrap().push((progress.done, progress.total)));
        let mut reporter = Reporter::at_intervals(on_progress.clone(), Duration::ZERO);
        reporter.expect(50);
        reporter.note(1, 10);
        reporter.note(2, 20);
        let done = |objects, bytes| (Amount { objects, bytes }, 50);
        assert_eq!(*seen.lock().unwrap(), [done(1, 10), done(3, 30)]);
        Reporter::at_intervals(on_progress, Duration::from_secs(3600)).note(1, 10);
        assert_eq!(seen.lock().unwrap().len(), 2, "short work is not reported");
    }

    #[test]
    fn the_time_left_is_that_of_the_bytes_left() {
        let bytes = 200_000_000;
        let mut progress = Progress {
            done: Amount { objects: 7, bytes },
            total: 600_000_000,
            elapsed: Duration::from_secs(4),
        };
        assert_eq!(progress.to_string(), "7 objects, 200.0 MB of 600.0 MB, 8 s left");
        progress.total = 100_000_000;
        assert_eq!(progress.to_string(), "7 objects, 200.0 MB of 200.0 MB, 0 s left");
        progress.total = 0;
        assert_eq!(progress.to_string(), "7 objects, 200.0 MB");
    }
}
