//! One queue of a level.

use std::collections::VecDeque;

use crate::request_table::RequestKey;
use crate::work::{SeatSeconds, WorkEstimate};

/// A queue, whose requests are dispatched in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The waiting requests, oldest first.
    pub(crate) waiting: VecDeque<RequestKey>,
    /// The progress of the level at which the next request of the queue starts.
    pub(crate) next_start: SeatSeconds,
    /// The number of executing requests.
    pub(crate) executing: usize,
    /// The seats of executing requests, and of those that keep seats after their answer.
    pub(crate) seats_in_use: u64,
    /// Sums of the waiting requests.
    pub(crate) waiting_sums: Sums,
}

/// Sums of estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) initial_seats: u64,
    pub(crate) max_seats: u64,
    pub(crate) work: SeatSeconds,
}

impl Queue {
    /// True if a request waits or executes. Seats after an answer do not count.
    pub(crate) fn is_active(&self) -> bool {
        self.executing > 0 || !self.waiting.is_empty()
    }

    /// True if nothing of the queue is left, not even seats after an answer.
    pub(crate) fn is_unused(&self) -> bool {
        !self.is_active() && self.seats_in_use == 0
    }
}

impl Sums {
    pub(crate) fn add(&mut self, estimate: &WorkEstimate) {
        self.initial_seats += u64::from(estimate.initial_seats);
        self.max_seats += u64::from(estimate.max_seats());
        self.work += estimate.total();
    }

    pub(crate) fn remove(&mut self, estimate: &WorkEstimate) {
        self.initial_seats -= u64::from(estimate.initial_seats);
        self.max_seats -= u64::from(estimate.max_seats());
        self.work -= estimate.total();
    }
}
