//! How much memory the bodies of writes may take.

use std::sync::atomic::{AtomicUsize, Ordering};

use planesmith_machinery::room::most_for;
use planesmith_machinery::status::{ApiError, ApiResult};
use tokio::sync::{Semaphore, SemaphorePermit};

const MIB: usize = 1 << 20;
/// Memory for all that is being made of large bodies, in MiB: two of the largest size at a time, or a hundred of the smallest
/// that count.
const WORKED_ON: usize = 1024;
/// Bytes of objects of writes that wait for somebody. Two hundred ordinary ones of the largest size are fewer.
const WAITING: usize = 2 << 30;
/// Bytes of documents from which on work on them needs memory that counts. As many smaller ones as may be worked on at once
/// take little.
const LARGE: usize = 64 << 10;
/// Bytes of a body from which on it counts what its object takes. Nothing that is made of fewer takes more than 2 MiB, and how
/// many there are is bounded by the requests in flight.
const COUNTED: usize = 8 << 10;

/// Bounds what bodies of writes are made to. Hundreds of writes may be in flight, and each byte of a body may take many in
/// memory.
///
/// There are two bounds, because a write waits for others: for webhooks, which may write themselves, and for the disk. Work
/// that waits for nobody waits for its turn; no turn lasts while somebody else is waited for, so that everybody gets theirs.
/// What objects take meanwhile is only counted, and a write for which there is no more memory is refused.
#[derive(Debug)]
pub(crate) struct LargeBodies {
    turns: Semaphore,
    waiting: AtomicUsize,
}

/// Memory that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    bodies: &'a LargeBodies,
    bytes: usize,
}

impl Default for LargeBodies {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(WORKED_ON),
            waiting: AtomicUsize::new(0),
        }
    }
}

impl LargeBodies {
    /// Reserves memory for work on documents of about `size` bytes, until the result is dropped. Requests get it in the order
    /// in which they ask, which they do when they have a thread. Small documents need none.
    pub(crate) async fn reserve(&self, size: usize) -> Option<SemaphorePermit<'_>> {
        if size < LARGE {
            return None;
        }
        let wanted = (most_for(size) / MIB).min(WORKED_ON);
        // The semaphore is never closed.
        let wanted = u32::try_from(wanted).unwrap_or_default();
        self.turns.acquire_many(wanted).await.ok()
    }

    /// Counts what `weigh` says, of documents of about `size` bytes, for as long as the result lives.
    ///
    /// # Errors
    ///
    /// 429 when there is too much already.
    pub(crate) fn count(&self, size: usize, weigh: impl FnOnce() -> usize) -> ApiResult<Counted<'_>> {
        let bytes = if size < COUNTED { 0 } else { weigh() };
        let more = |waiting: usize| (bytes == 0 || waiting < WAITING).then_some(waiting.saturating_add(bytes));
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
        let taken = bodies.turns.try_acquire_many(900).expect("free");
        let mut waiting = pin!(bodies.reserve(3 * MIB));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(waiting.poll_unpin(&mut cx).is_pending());
        assert!(
            bodies
                .reserve(1000)
                .now_or_never()
                .is_some_and(|reserved| reserved.is_none())
        );
        drop(taken);
        assert!(waiting.poll_unpin(&mut cx).is_ready());
    }

    #[test]
    fn a_body_of_any_size_gets_memory_in_the_end() {
        let bodies = LargeBodies::default();
        let reserved = bodies.reserve(usize::MAX / 1000).now_or_never();
        assert!(reserved.is_some_and(|reserved| reserved.is_some()));
    }

    #[test]
    fn writes_that_wait_are_refused_when_there_are_too_many() {
        let bodies = LargeBodies::default();
        let first = bodies.count(MIB, || WAITING).expect("the only one");
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
