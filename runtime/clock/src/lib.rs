//! The clock of a server: the time of day that it writes into objects, and by which it decides if something has expired.
//!
//! A server gets one [`Clock`] and passes it to all of its parts, so that servers in one process can have different times. Only
//! [`SystemClock`] reads the clock of the operating system. Durations are measured with [`Instant`](std::time::Instant), which
//! no clock moves.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A source of the time of day.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the current time.
    fn now(&self) -> SystemTime;

    /// Returns the current time in milliseconds since 1970. A clock before 1970 counts as 1970.
    fn unix_millis(&self) -> u64 {
        let since = self.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "all other code reads a `Clock`")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A clock that stands still until a test moves it. A store whose clock was moved needs a call of `Storage::recheck_clock`.
#[derive(Debug)]
pub struct ManualClock {
    /// Milliseconds since 1970.
    now: AtomicU64,
}

impl ManualClock {
    /// Returns a clock at `now`, in milliseconds since 1970.
    #[must_use]
    pub fn new(now: u64) -> Self {
        Self {
            now: AtomicU64::new(now),
        }
    }

    /// Moves the clock forward by `duration`.
    pub fn advance(&self, duration: Duration) {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.now.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sets the clock to `now`, in milliseconds since 1970, forward or back.
    pub fn set(&self, now: u64) {
        self.now.store(now, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.now.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_shows_the_time_that_it_was_set_to() {
        let clock = ManualClock::new(1_500);
        assert_eq!(clock.now(), UNIX_EPOCH + Duration::from_millis(1_500));
        clock.advance(Duration::from_secs(2));
        assert_eq!(clock.unix_millis(), 3_500);
        clock.set(10);
        assert_eq!(clock.unix_millis(), 10);
    }

    #[test]
    fn a_clock_before_1970_counts_as_1970_in_milliseconds() {
        #[derive(Debug)]
        struct Early;
        impl Clock for Early {
            fn now(&self) -> SystemTime {
                UNIX_EPOCH - Duration::from_secs(1)
            }
        }
        assert_eq!(Early.unix_millis(), 0);
    }
}
