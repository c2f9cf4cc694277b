//! One priority level.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::clock::Clock;
use crate::demand::DemandSummary;
use crate::digest::{LevelDigest, QueueDigest, RequestDigest};
use crate::discipline::Discipline;
use crate::queue_set::{Admission, Granted, QueueSet};
use crate::rejection::Rejection;
use crate::request_table::{Grant, Request, RequestKey};
use crate::retry_after::RetryAfter;
use crate::work::WorkEstimate;

/// A priority level: its requests share its seats. Requests of one level wait for each other only for moments, those of different
/// levels never.
pub struct Level<D> {
    name: String,
    clock: Arc<dyn Clock>,
    state: Mutex<QueueSet<D>>,
    /// Most seats of one request.
    widest: AtomicU32,
    retry_after: RetryAfter,
}

/// A request that has begun.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) key: RequestKey,
    /// The seats that it occupies when it executes.
    pub(crate) width: u32,
    /// The time of its arrival.
    pub(crate) at: Instant,
    /// Gives it its seats; `None` if it has them.
    pub(crate) grant: Option<Arc<Grant>>,
    /// Number of requests in its queue, with this one; 0 for one that never waited.
    pub(crate) queue_length: usize,
}

impl<D> Level<D> {
    pub(crate) fn new(name: &str, clock: Arc<dyn Clock>) -> Self {
        let now = clock.now();
        Self {
            name: name.to_owned(),
            clock,
            state: Mutex::new(QueueSet::new(now)),
            widest: AtomicU32::new(1),
            retry_after: RetryAfter::new(now),
        }
    }

    /// The name of the level.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The most seats that a request of the level should be estimated to need.
    #[must_use]
    pub fn widest_request(&self) -> u32 {
        self.widest.load(Ordering::Relaxed)
    }

    /// The seats that may be in use now.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.state().limit
    }

    /// Begins a request. Others that are given seats by it are woken.
    pub(crate) fn begin(&self, estimate: WorkEstimate, hash: u64, description: D) -> Result<Begun, Rejection> {
        let at = self.clock.now();
        let mut state = self.state();
        let Admission {
            key,
            width,
            grant,
            granted,
        } = state.start(at, estimate, hash, description)?;
        let queue_length = grant.as_ref().map_or(0, |_| state.queue_length(key));
        drop(state);
        wake(granted);
        Ok(Begun {
            key,
            width,
            at,
            // Others may have made room for it.
            grant: grant.filter(|grant| !grant.is_given()),
            queue_length,
        })
    }

    /// Counts a rejection, and returns the seconds after which its client may come again.
    pub fn reject(&self) -> u64 {
        self.retry_after.reject(self.clock.now())
    }

    /// The present, by the clock of the level.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) fn configure(&self, discipline: Discipline, limit: u32, nominal: u32, widest: u32) {
        self.widest.store(widest, Ordering::Relaxed);
        let now = self.clock.now();
        let granted = self.state().configure(now, discipline, limit.into(), nominal.into());
        wake(granted);
    }

    pub(crate) fn set_limit(&self, limit: u32) {
        let granted = self.state().set_limit(self.clock.now(), limit.into());
        wake(granted);
    }

    pub(crate) fn take_demand(&self) -> DemandSummary {
        self.state().take_demand(self.clock.now())
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.state().is_idle()
    }

    /// Ends a request. Returns the time, and its queue and its work.
    pub(crate) fn finish(&self, key: RequestKey) -> (Instant, Option<(Option<usize>, WorkEstimate)>) {
        let now = self.clock.now();
        let finished = self.state().finish(now, key);
        let ended = finished.map(|(request, granted)| {
            wake(granted);
            (request.queue, request.estimate)
        });
        (now, ended)
    }

    pub(crate) fn release(&self, queue: Option<usize>, seats: u32) {
        let now = self.clock.now();
        let granted = self.state().release(now, queue, seats);
        wake(granted);
    }

    /// Removes a waiting request. False if it has seats already.
    pub(crate) fn leave(&self, key: RequestKey, timed_out: bool) -> bool {
        let now = self.clock.now();
        let mut state = self.state();
        let (left, granted) = state.leave(now, key);
        if left {
            match timed_out {
                true => state.counts.timed_out += 1,
                false => state.counts.cancelled += 1,
            }
        }
        drop(state);
        wake(granted);
        left
    }

    fn state(&self) -> MutexGuard<'_, QueueSet<D>> {
        // A panic cannot interrupt a change half way: descriptions are only moved while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Clone> Level<D> {
    /// The state of the level, with its queues and requests if `with_requests`.
    #[must_use]
    pub fn digest(&self, with_requests: bool) -> LevelDigest<D> {
        let now = self.clock.now();
        let mut state = self.state();
        state.sync(now);
        let histograms = state.histograms.clone();
        let (queues, requests) = match with_requests {
            true => (queues(&state), requests(&state)),
            false => (Vec::new(), Vec::new()),
        };
        let mut digest = LevelDigest {
            is_idle: state.is_idle(),
            active_queues: state.waiting_queues.len(),
            waiting: state.waiting,
            executing: state.executing,
            seats_in_use: state.seats_in_use,
            counts: state.counts,
            progress: state.progress,
            seat_utilization: histograms.seats,
            waiting_utilization: histograms.waiting,
            executing_utilization: histograms.executing,
            demand: histograms.demand,
            queues,
            requests,
        };
        // Requests of the level do not wait for the rest.
        drop(state);
        digest.complete(now);
        digest
    }
}

fn queues<D>(state: &QueueSet<D>) -> Vec<QueueDigest> {
    let digest = |queue: &crate::queue::Queue| QueueDigest {
        waiting: queue.waiting.len(),
        executing: queue.executing,
        seats_in_use: queue.seats_in_use,
        next_start: queue.next_start,
        initial_seats: queue.waiting_sums.initial_seats,
        max_seats: queue.waiting_sums.max_seats,
        work: queue.waiting_sums.work,
    };
    state.queues.iter().map(digest).collect()
}

fn requests<D: Clone>(state: &QueueSet<D>) -> Vec<RequestDigest<D>> {
    let digest = |request: &Request<D>, place| RequestDigest {
        description: request.description.clone(),
        queue: request.queue,
        place,
        estimate: request.estimate,
        arrived: request.arrived,
        started: request.started,
    };
    let waiting = state.queues.iter().flat_map(|queue| queue.waiting.iter().enumerate());
    let waiting = waiting.filter_map(|(place, key)| Some(digest(state.requests.get(*key)?, Some(place))));
    let executing = state.requests.iter().filter(|request| request.started.is_some());
    waiting.chain(executing.map(|request| digest(request, None))).collect()
}

/// Wakes the callers of requests that were given seats.
fn wake(granted: Granted) {
    for grant in granted {
        grant.waker.wake();
    }
}

impl<D> fmt::Debug for Level<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Level")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
