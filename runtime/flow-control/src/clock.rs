//! The source of time, which is monotonic.

use std::fmt;
use std::time::Instant;

/// Tells the time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The present.
    fn now(&self) -> Instant;
}

/// The monotonic clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now(&self) -> Instant {
        Instant::now()
    }
}
