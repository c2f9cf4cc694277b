//! The requests of a level.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use futures_util::task::AtomicWaker;

use crate::work::{SeatSeconds, WorkEstimate};

/// A request that waits or executes.
#[derive(Debug)]
pub(crate) struct Request<D> {
    pub(crate) description: D,
    pub(crate) estimate: WorkEstimate,
    /// `None` in a level without queues.
    pub(crate) queue: Option<usize>,
    pub(crate) arrived: Instant,
    /// The progress of the level when the request arrived.
    pub(crate) arrived_at: SeatSeconds,
    /// The start of its execution; `None` while it waits.
    pub(crate) started: Option<Instant>,
    /// Tells the waiting caller; `None` if the request never waited.
    pub(crate) grant: Option<Arc<Grant>>,
}

/// The seats that a waiting request is given.
#[derive(Debug, Default)]
pub(crate) struct Grant {
    given: AtomicBool,
    /// Number of times that the request was the next one and did not fit into the free seats.
    not_accommodated: AtomicU64,
    pub(crate) waker: AtomicWaker,
}

impl Grant {
    pub(crate) fn give(&self) {
        self.given.store(true, Ordering::Release);
    }

    pub(crate) fn is_given(&self) -> bool {
        self.given.load(Ordering::Acquire)
    }

    pub(crate) fn count_not_accommodated(&self) {
        self.not_accommodated.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn not_accommodated(&self) -> u64 {
        self.not_accommodated.load(Ordering::Relaxed)
    }
}

/// The key of a request in a [`RequestTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestKey(usize);

/// The requests of a level. A steady number of requests allocates nothing.
#[derive(Debug)]
pub(crate) struct RequestTable<D> {
    slots: Vec<Option<Request<D>>>,
    free: Vec<usize>,
}

impl<D> RequestTable<D> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(crate) fn insert(&mut self, request: Request<D>) -> RequestKey {
        if let Some(slot) = self.free.pop() {
            self.slots[slot] = Some(request);
            return RequestKey(slot);
        }
        self.slots.push(Some(request));
        RequestKey(self.slots.len() - 1)
    }

    pub(crate) fn get(&self, key: RequestKey) -> Option<&Request<D>> {
        self.slots.get(key.0)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, key: RequestKey) -> Option<&mut Request<D>> {
        self.slots.get_mut(key.0)?.as_mut()
    }

    pub(crate) fn remove(&mut self, key: RequestKey) -> Option<Request<D>> {
        let request = self.slots.get_mut(key.0)?.take()?;
        self.free.push(key.0);
        Some(request)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Request<D>> {
        self.slots.iter().flatten()
    }
}
