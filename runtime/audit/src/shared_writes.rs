//! Events of several requests that are delivered together, while all of them wait.
//!
//! The first request of a batch starts a task, which first lets the requests run that are ready and then delivers what they have
//! added. The task belongs to no request: one that ends early, or is not polled, delays nobody.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use bytes::Bytes;
use planesmith_access::outcome::Outcome;
use tokio::runtime::Handle;

use crate::destination::Destination;
use crate::losses::Losses;

/// The result of a delivery.
type Delivered = Result<(), String>;

/// The most bytes of a batch. Whoever would add more delivers the batch itself, and waits for a destination that is slow.
const MAX_BATCH: usize = 16 << 20;

/// Delivers events in the order in which they were added, those of several requests at once.
#[derive(Debug)]
pub(crate) struct SharedWrites(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    destination: Arc<dyn Destination>,
    losses: Losses,
    // Locked for a few assignments.
    open: Mutex<OpenBatch>,
    // Held while a batch is delivered, so that batches stay in order. Locked before `open`.
    turn: Mutex<()>,
}

/// The events that are delivered next.
#[derive(Debug, Default)]
struct OpenBatch {
    events: Vec<Bytes>,
    bytes: usize,
    end: Arc<BatchEnd>,
}

/// The end of a batch, for which its requests wait.
#[derive(Debug, Default)]
struct BatchEnd(Mutex<Progress>);

#[derive(Debug, Default)]
struct Progress {
    /// `None` until the batch is delivered or lost.
    delivered: Option<Delivered>,
    waiting: Vec<Waker>,
}

impl SharedWrites {
    pub(crate) fn new(destination: Arc<dyn Destination>, losses: Losses) -> Self {
        Self(Arc::new(Shared {
            destination,
            losses,
            open: Mutex::default(),
            turn: Mutex::default(),
        }))
    }

    /// Delivers `events` and all that wait.
    ///
    /// # Errors
    ///
    /// The reason for which they are lost; the loss is counted.
    pub(crate) fn deliver(&self, events: Vec<Bytes>) -> Delivered {
        let (end, _) = self.0.add(events);
        self.0.deliver_open();
        // Whoever took the batch has ended it before the next turn.
        end.progress().delivered.clone().unwrap_or(Ok(()))
    }

    /// Delivers all that wait.
    pub(crate) fn finish(&self) {
        self.0.deliver_open();
    }

    /// Begins to deliver `events`, together with those of requests that are ready now. They are delivered even if the outcome is
    /// dropped. Outside of a runtime they are delivered at once.
    pub(crate) fn begin(&self, events: Vec<Bytes>) -> Outcome<'static, Delivered> {
        let Ok(runtime) = Handle::try_current() else {
            return self.deliver(events).into();
        };
        let (end, is_first) = self.0.add(events);
        if is_first {
            let delivery = DeliveryTask(Arc::clone(&self.0), Arc::clone(&end));
            runtime.spawn(async move {
                tokio::task::yield_now().await;
                drop(delivery);
            });
        }
        Outcome::pending(async move { end.wait().await })
    }
}

impl Shared {
    /// Adds events to the open batch, and delivers it before if it is full. Returns its end, and true if they are its first.
    fn add(&self, events: Vec<Bytes>) -> (Arc<BatchEnd>, bool) {
        let bytes: usize = events.iter().map(Bytes::len).sum();
        loop {
            let mut open = lock(&self.open);
            if open.bytes == 0 || open.bytes.saturating_add(bytes) <= MAX_BATCH {
                let is_first = open.events.is_empty();
                open.events.extend(events);
                open.bytes += bytes;
                return (Arc::clone(&open.end), is_first);
            }
            drop(open);
            self.deliver_open();
        }
    }

    /// Delivers the open batch. On return all events have been delivered or lost that were added before the call.
    fn deliver_open(&self) {
        let _turn = lock(&self.turn);
        let OpenBatch { events, end, .. } = mem::take(&mut *lock(&self.open));
        if events.is_empty() {
            return;
        }
        let mut ending = Ending {
            shared: self,
            end: &end,
            events: events.len(),
            delivered: Err("the delivery panicked".to_owned()),
        };
        ending.delivered = self.destination.deliver(&events);
    }
}

/// Delivers a batch when it is dropped, also with a runtime that ends, unless another caller has delivered it.
struct DeliveryTask(Arc<Shared>, Arc<BatchEnd>);

impl Drop for DeliveryTask {
    fn drop(&mut self) {
        if self.1.progress().delivered.is_none() {
            self.0.deliver_open();
        }
    }
}

/// Reports the result of a batch when it is dropped, also by a panic.
struct Ending<'a> {
    shared: &'a Shared,
    end: &'a BatchEnd,
    events: usize,
    delivered: Delivered,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let delivered = mem::replace(&mut self.delivered, Ok(()));
        if delivered.is_err() {
            self.shared.losses.count(self.events);
        }
        let mut progress = self.end.progress();
        progress.delivered = Some(delivered.clone());
        let waiting = mem::take(&mut progress.waiting);
        drop(progress);
        waiting.into_iter().for_each(Waker::wake);
        if let Err(why) = delivered {
            self.shared.losses.log(self.events, &why);
        }
    }
}

impl BatchEnd {
    /// Waits until the batch is delivered or lost.
    async fn wait(&self) -> Delivered {
        let mut registered = None;
        std::future::poll_fn(|cx| {
            let mut progress = self.progress();
            if let Some(delivered) = &progress.delivered {
                return Poll::Ready(delivered.clone());
            }
            match registered {
                // The batch has not ended: the waker is still at its place.
                Some(place) => cx.waker().clone_into(&mut progress.waiting[place]),
                None => {
                    registered = Some(progress.waiting.len());
                    progress.waiting.push(cx.waker().clone());
                }
            }
            Poll::Pending
        })
        .await
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.0)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No change under these locks is interrupted half way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
