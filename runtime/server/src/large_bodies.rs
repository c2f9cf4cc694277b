//! Limits on the memory for bodies of writes.

use std::sync::atomic::{AtomicUsize, Ordering};

use planesmith_machinery::decode_budget::max_decoded_size;
use planesmith_machinery::status::{ApiError, ApiResult};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::offload::Cost;

const MIB: usize = 1 << 20;
/// Memory for long work on large bodies, in MiB: enough for two of the largest size at a time.
const LONG_WORK: usize = 768;
/// The same for short work, which would otherwise wait behind long work: enough for thirty of the smallest that count.
const SHORT_WORK: usize = 256;
/// Bytes of objects of writes that wait. Two hundred typical objects of the largest size take less.
const MAX_WAITING: usize = 2 << 30;
/// Size in bytes from which on work on a document reserves memory. Concurrent work on smaller ones takes little.
const LARGE: usize = 64 << 10;
/// Size in bytes from which on the memory of a body's object is counted. An object of a smaller body takes at most 2
/// MiB, and the number of such objects is bounded by the requests in flight.
const COUNTED: usize = 8 << 10;

/// Bounds the memory for the objects of write bodies. Hundreds of writes may be in flight, and each byte of a body may
/// take many in memory.
///
/// There are two bounds, because a write waits for others: for webhooks, which may write themselves, and for the disk.
/// Work that waits for no one else queues for its turn; no turn waits for another party, so every request gets one. The
/// memory of objects that wait meanwhile is only counted, and a write beyond the limit is refused.
#[derive(Debug)]
pub(crate) struct LargeBodies {
    long: Semaphore,
    short: Semaphore,
    waiting: AtomicUsize,
}

/// Memory that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    bodies: &'a LargeBodies,
    bytes: usize,
}

/// Memory that is reserved until this is dropped; `None` for a small document, which needs none.
pub(crate) type Reserved<'a> = Option<SemaphorePermit<'a>>;

impl Default for LargeBodies {
    fn default() -> Self {
        Self {
            long: Semaphore::new(LONG_WORK),
            short: Semaphore::new(SHORT_WORK),
            waiting: AtomicUsize::new(0),
        }
    }
}

impl LargeBodies {
    /// Reserves memory for work of the expected cost `cost` on documents of about `size` bytes, until the result is
    /// dropped. Requests are served in the order of their calls, which they make once they have a thread. Small documents
    /// need no reservation, and short work does not wait for the memory of long work.
    pub(crate) async fn reserve(&self, size: usize, cost: Cost) -> Reserved<'_> {
        if size < LARGE {
            return None;
        }
        let (memory, most) = match cost.is_long() {
            true => (&self.long, LONG_WORK),
            false => (&self.short, SHORT_WORK),
        };
        let wanted = (max_decoded_size(size) / MIB).min(most);
        // The semaphore is never closed.
        let wanted = u32::try_from(wanted).unwrap_or_default();
        memory.acquire_many(wanted).await.ok()
    }

    /// Counts the bytes that `weigh` returns, for documents of about `size` bytes, for the lifetime of the result.
    ///
    /// # Errors
    ///
    /// 429 when the limit is reached.
    pub(crate) fn count(&self, size: usize, weigh: impl FnOnce() -> usize) -> ApiResult<Counted<'_>> {
        let bytes = if size < COUNTED { 0 } else { weigh() };
        let more = |waiting: usize| (bytes == 0 || waiting < MAX_WAITING).then_some(waiting.saturating_add(bytes));
        match self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(Counted { bodies: self, bytes }),
            Err(_) => Err(ApiError::overloaded()),
        }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.bodies.waiting.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn large_bodies_wait_for_memory_and_small_ones_do_not() {
        let bodies = LargeBodies::default();
        let taken = bodies.long.try_acquire_many(700).expect("free");
        let mut waiting = pin!(bodies.reserve(3 * MIB, Cost::LONG));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(waiting.poll_unpin(&mut cx).is_pending());
        assert!(
            bodies
                .reserve(1000, Cost::LONG)
                .now_or_never()
                .is_some_and(|reserved| reserved.is_none())
        );
        let short = bodies.reserve(MIB, Cost::INLINE).now_or_never();
        assert!(
            short.is_some_and(|reserved| reserved.is_some()),
            "short work has memory"
        );
        drop(taken);
        assert!(waiting.poll_unpin(&mut cx).is_ready());
    }

    #[test]
    fn a_body_of_any_size_gets_memory_in_the_end() {
        let bodies = LargeBodies::default();
        for cost in [Cost::INLINE, Cost::LONG] {
            let reserved = bodies.reserve(usize::MAX / 1000, cost).now_or_never();
            assert!(reserved.is_some_and(|reserved| reserved.is_some()));
        }
    }

    #[test]
    fn writes_that_wait_are_refused_when_there_are_too_many() {
        let bodies = LargeBodies::default();
        let first = bodies.count(MIB, || MAX_WAITING).expect("the only one");
        let refused = bodies.count(MIB, || 1).expect_err("there is too much");
        assert_eq!(
            (refused.code(), refused.message()),
            (429, "Too many requests, please try again later.")
        );
        assert!(bodies.count(1000, || panic!("small ones are not weighed")).is_ok());
        drop(first);
        assert!(bodies.count(MIB, || 1).is_ok());
    }
}
