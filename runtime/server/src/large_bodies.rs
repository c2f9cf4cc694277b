//! How much memory the bodies of writes may take.

use std::sync::atomic::{AtomicUsize, Ordering};

use planesmith_machinery::room::most_for;
use planesmith_machinery::status::{ApiError, ApiResult};
use tokio::sync::Semaphore;

use crate::aside::{LARGE, aside};

const MIB: usize = 1 << 20;
/// Memory for all that is being made of large bodies, in MiB: two of the largest size at a time, or a hundred of the smallest
/// that count.
const WORKED_ON: usize = 1024;
/// Bytes of objects of writes that wait for somebody. Two hundred ordinary ones of the largest size are fewer.
const WAITING: usize = 2 << 30;
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
    /// Does `work`, which makes something of documents of about `size` bytes, as soon as there is memory for that. Who came
    /// first goes first.
    ///
    /// Small documents need no turn: as many are worked on as the runtime has workers.
    pub(crate) async fn work<T>(&self, size: usize, work: impl FnOnce() -> T) -> T {
        if size < LARGE {
            return work();
        }
        let wanted = (most_for(size) / MIB).min(WORKED_ON);
        // The semaphore is never closed.
        let _turn = self.turns.acquire_many(u32::try_from(wanted).unwrap_or_default()).await;
        aside(size, work)
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
    fn large_bodies_wait_for_their_turn_and_small_ones_do_not() {
        let bodies = LargeBodies::default();
        let taken = bodies.turns.try_acquire_many(900).expect("free");
        let mut waiting = pin!(bodies.work(3 * MIB, || 1));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(waiting.poll_unpin(&mut cx).is_pending());
        assert_eq!(bodies.work(1000, || 2).now_or_never(), Some(2));
        drop(taken);
        assert!(waiting.poll_unpin(&mut cx).is_ready());
        assert_eq!(bodies.work(usize::MAX / 1000, || 3).now_or_never(), Some(3));
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
