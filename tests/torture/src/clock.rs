//! A clock that jumps.

use std::sync::atomic::{AtomicU64, Ordering};

use planesmith_store::Clock;

/// A clock that shows what it was set to.
#[derive(Debug)]
pub struct JumpingClock(AtomicU64);

impl JumpingClock {
    /// Returns a clock at `now`, in milliseconds since 1970.
    #[must_use]
    pub fn new(now: u64) -> Self {
        Self(AtomicU64::new(now))
    }

    /// Sets the clock, forward or back.
    pub fn set(&self, now: u64) {
        self.0.store(now, Ordering::SeqCst);
    }
}

impl Clock for JumpingClock {
    fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
