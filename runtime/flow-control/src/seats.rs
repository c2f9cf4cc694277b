//! The seats of requests, and the wait for them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use crate::level::Level;
use crate::request_table::{Grant, RequestKey};

/// The seats of an executing request. Dropping it ends the request and frees them at once.
pub struct Seats<D> {
    level: Arc<Level<D>>,
    /// `None` once the request is finished.
    key: Option<RequestKey>,
    width: u32,
    began: Instant,
}

/// The end of a request.
#[derive(Debug)]
pub struct Finished<D> {
    /// The time of the end.
    pub at: Instant,
    /// The seats that the request keeps for the work after its answer. The caller drops them in time.
    pub final_seats: Option<FinalSeats<D>>,
}

/// The seats that a finished request keeps for the work after its answer. Dropping it frees them.
#[must_use]
pub struct FinalSeats<D> {
    level: Arc<Level<D>>,
    queue: Option<usize>,
    seats: u32,
    until: Instant,
}

/// The wait for seats. Dropping it removes the request from its queue.
#[must_use]
pub struct Waiting<D> {
    level: Arc<Level<D>>,
    /// `None` once the request executes or left.
    key: Option<RequestKey>,
    width: u32,
    grant: Arc<Grant>,
}

impl<D> Seats<D> {
    pub(crate) fn new(level: Arc<Level<D>>, key: RequestKey, width: u32, began: Instant) -> Self {
        Self {
            level,
            key: Some(key),
            width,
            began,
        }
    }

    /// Ends the request.
    #[must_use]
    pub fn finish(mut self) -> Finished<D> {
        let (at, ended) = match self.key.take() {
            Some(key) => self.level.finish(key),
            None => (self.level.now(), None),
        };
        let last = ended.filter(|(_, estimate)| !estimate.additional_latency.is_zero());
        let final_seats = last.map(|(queue, estimate)| FinalSeats {
            level: Arc::clone(&self.level),
            queue,
            seats: estimate.max_seats(),
            until: at + estimate.additional_latency,
        });
        Finished { at, final_seats }
    }

    /// The number of seats.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The start of the execution.
    #[must_use]
    pub fn began(&self) -> Instant {
        self.began
    }
}

impl<D> Drop for Seats<D> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        if let (_, Some((queue, estimate))) = self.level.finish(key)
            && !estimate.additional_latency.is_zero()
        {
            self.level.release(queue, estimate.max_seats());
        }
    }
}

impl<D> FinalSeats<D> {
    /// The time at which the seats become free.
    #[must_use]
    pub fn until(&self) -> Instant {
        self.until
    }
}

impl<D> Drop for FinalSeats<D> {
    fn drop(&mut self) {
        self.level.release(self.queue, self.seats);
    }
}

impl<D> Waiting<D> {
    pub(crate) fn new(level: Arc<Level<D>>, key: RequestKey, width: u32, grant: Arc<Grant>) -> Self {
        Self {
            level,
            key: Some(key),
            width,
            grant,
        }
    }

    /// Number of times that the request was the next one and did not fit into the free seats.
    #[must_use]
    pub fn not_accommodated(&self) -> u64 {
        self.grant.not_accommodated()
    }

    fn seats(&self, key: RequestKey) -> Seats<D> {
        Seats::new(Arc::clone(&self.level), key, self.width, self.level.now())
    }

    /// Ends the wait because it took too long. Returns the seats if they came at the last moment.
    #[must_use]
    pub fn time_out(&mut self) -> Option<Seats<D>> {
        let key = self.key.take()?;
        match self.level.leave(key, true) {
            true => None,
            false => Some(self.seats(key)),
        }
    }
}

impl<D> Unpin for Waiting<D> {}

impl<D> Future for Waiting<D> {
    type Output = Seats<D>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Seats<D>> {
        if !self.grant.is_given() {
            self.grant.waker.register(cx.waker());
            // It may have been given before the waker was there.
            if !self.grant.is_given() {
                return Poll::Pending;
            }
        }
        match self.key.take() {
            Some(key) => Poll::Ready(self.seats(key)),
            // The seats were returned already.
            None => Poll::Pending,
        }
    }
}

impl<D> Drop for Waiting<D> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        if !self.level.leave(key, false) {
            drop(self.seats(key));
        }
    }
}

impl<D> fmt::Debug for Seats<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seats")
            .field("level", &self.level.name())
            .finish_non_exhaustive()
    }
}

impl<D> fmt::Debug for FinalSeats<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinalSeats")
            .field("seats", &self.seats)
            .finish_non_exhaustive()
    }
}

impl<D> fmt::Debug for Waiting<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting")
            .field("level", &self.level.name())
            .finish_non_exhaustive()
    }
}
