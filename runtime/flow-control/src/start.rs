//! The beginning of requests.

use std::sync::Arc;

use crate::level::{Begun, Level};
use crate::rejection::Rejection;
use crate::seats::{Seats, Waiting};
use crate::work::WorkEstimate;

/// The beginning of a request.
#[must_use]
#[derive(Debug)]
pub enum Start<D> {
    /// It has seats.
    Runs(Seats<D>),
    /// It waits for seats.
    Waits {
        /// Gives the seats.
        waiting: Waiting<D>,
        /// Number of requests that wait in its queue, with this one.
        queue_length: usize,
    },
    /// It is rejected.
    Rejected(Rejection),
}

impl<D> Level<D> {
    /// Begins a request of the flow with `hash`. It allocates nothing if it gets its seats at once.
    pub fn start(self: &Arc<Self>, estimate: WorkEstimate, hash: u64, description: D) -> Start<D> {
        match self.begin(estimate, hash, description) {
            Err(reason) => Start::Rejected(reason),
            Ok(Begun {
                key,
                width,
                at,
                grant: None,
                ..
            }) => Start::Runs(Seats::new(Arc::clone(self), key, width, at)),
            Ok(Begun {
                key,
                width,
                grant: Some(grant),
                queue_length,
                ..
            }) => {
                let waiting = Waiting::new(Arc::clone(self), key, width, grant);
                Start::Waits { waiting, queue_length }
            }
        }
    }
}
