//! The source of time.

use std::fmt;
use std::time::Instant;

/// Tells the time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The present.
    fn now(&self) -> Instant;
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }
}
