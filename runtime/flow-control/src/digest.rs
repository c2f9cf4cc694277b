//! The state of a level, for people and metrics.

use std::time::Instant;

use crate::timed_histogram::TimedHistogram;
use crate::work::{SeatSeconds, WorkEstimate};

/// Numbers of requests since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were given seats.
    pub dispatched: u64,
    /// Requests that were rejected, for any reason.
    pub rejected: u64,
    /// Those of them that waited too long.
    pub timed_out: u64,
    /// Those of them whose client went away while they waited.
    pub cancelled: u64,
}

/// The virtual time of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Work of each active queue so far.
    pub current: SeatSeconds,
    /// The same at the last dispatch.
    pub dispatched: SeatSeconds,
    /// Virtual start of the request that was dispatched last.
    pub latest_start: SeatSeconds,
    /// Smallest and largest virtual start of the oldest requests of the queues, at the last dispatch.
    pub next_starts: (SeatSeconds, SeatSeconds),
    /// The same without the estimated work in progress.
    pub discounted_starts: (SeatSeconds, SeatSeconds),
}

/// A level at one moment.
#[derive(Clone, Debug)]
pub struct LevelDigest<D> {
    /// True if no request waits or executes.
    pub is_idle: bool,
    /// Number of queues in which requests wait.
    pub active_queues: usize,
    /// Number of waiting requests.
    pub waiting: usize,
    /// Number of executing requests.
    pub executing: usize,
    /// Seats in use.
    pub seats_in_use: u64,
    /// Numbers of requests so far.
    pub counts: Counts,
    /// The virtual time.
    pub progress: Progress,
    /// Seats in use as a fraction of the limit, over time.
    pub seat_utilization: TimedHistogram,
    /// Waiting requests as a fraction of the queues' capacity, over time.
    pub waiting_utilization: TimedHistogram,
    /// Executing requests as a fraction of the limit, over time.
    pub executing_utilization: TimedHistogram,
    /// Wanted seats as a fraction of the nominal limit, over time.
    pub demand: TimedHistogram,
    /// The queues; empty unless requested.
    pub queues: Vec<QueueDigest>,
    /// The requests; empty unless requested. Executing ones without a queue are first, then by queue the waiting ones in order and
    /// the executing ones, which have no place.
    pub requests: Vec<RequestDigest<D>>,
}

impl<D> LevelDigest<D> {
    /// Counts the time until `now`, and sorts the requests.
    pub(crate) fn complete(&mut self, now: Instant) {
        for histogram in [
            &mut self.seat_utilization,
            &mut self.waiting_utilization,
            &mut self.executing_utilization,
            &mut self.demand,
        ] {
            histogram.advance(now);
        }
        self.requests
            .sort_by_key(|request| (request.queue, request.place.is_none(), request.place, request.arrived));
    }
}

/// A queue at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDigest {
    /// Number of waiting requests.
    pub waiting: usize,
    /// Number of executing requests.
    pub executing: usize,
    /// Seats in use.
    pub seats_in_use: u64,
    /// Virtual start of the next request.
    pub next_start: SeatSeconds,
    /// Initial seats of the waiting requests.
    pub initial_seats: u64,
    /// Seats that the waiting requests occupy when they execute.
    pub max_seats: u64,
    /// Work of the waiting requests.
    pub work: SeatSeconds,
}

/// A request at one moment.
#[derive(Clone, Debug)]
pub struct RequestDigest<D> {
    /// The description that the caller gave it.
    pub description: D,
    /// The index of its queue; `None` in a level without queues.
    pub queue: Option<usize>,
    /// Its place in the queue; `None` while it executes.
    pub place: Option<usize>,
    /// Its estimated work.
    pub estimate: WorkEstimate,
    /// The time of its arrival.
    pub arrived: Instant,
    /// The start of its execution; `None` while it waits.
    pub started: Option<Instant>,
}
