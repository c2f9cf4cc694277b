//! The expensive work of one request.

use std::future::{Future, ready};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planesmith_access::user::UserInfo;
use planesmith_machinery::status::{ApiError, ApiResult};

use super::lane::Slot;
use super::{Cost, Offload};

/// Runs the expensive work of one request, piece by piece. A request that was admitted is not refused later, and
/// requests of users that keep the cluster running never are.
#[derive(Debug)]
pub(crate) struct Turns {
    offload: Arc<Offload>,
    user: u64,
    is_admitted: AtomicBool,
}

impl Turns {
    pub(super) fn new(offload: Arc<Offload>, user: &UserInfo) -> Self {
        let mut hasher = DefaultHasher::new();
        user.name.hash(&mut hasher);
        Self {
            offload,
            user: hasher.finish(),
            is_admitted: AtomicBool::new(user.is_system()),
        }
    }

    /// Runs `work` with the expected cost `cost`: at once if that is low, otherwise when a thread is free. The thread
    /// is not one of the runtime's workers meanwhile.
    ///
    /// # Errors
    ///
    /// 429 with `Retry-After` when too much work waits, unless an earlier piece of this request was admitted.
    pub(crate) async fn run<T>(&self, cost: Cost, work: impl FnOnce() -> T) -> ApiResult<T> {
        let permit: Permit<()> = self.permit(cost, ready(())).await?;
        Ok(permit.run(work))
    }

    /// Waits for a permit to run work, as for [`Self::run`], and then for `memory`. Only work with a thread waits for
    /// memory, so that work that waits for a thread keeps no memory from others, and is refused before it waits for
    /// either.
    ///
    /// # Errors
    ///
    /// As for [`Self::run`].
    pub(crate) async fn permit<M>(&self, cost: Cost, memory: impl Future<Output = M>) -> ApiResult<Permit<M>> {
        if cost < Cost::INLINE {
            return Ok(Permit::Here);
        }
        let is_bounded = !self.is_admitted.load(Ordering::Relaxed);
        let entered = self.offload.lane(cost).enter(self.user, is_bounded).await;
        let slot = entered.map_err(|_| ApiError::overloaded())?;
        self.is_admitted.store(true, Ordering::Relaxed);
        Ok(Permit::Thread(slot, memory.await))
    }

    /// Like [`Self::run`], for work that is never refused, such as the answer to a write that is stored.
    pub(crate) async fn finish<T>(&self, cost: Cost, work: impl FnOnce() -> T) -> T {
        self.certain_permit(cost, ready(())).await.run(work)
    }

    /// Like [`Self::permit`], for work that is never refused.
    pub(crate) async fn certain_permit<M>(&self, cost: Cost, memory: impl Future<Output = M>) -> Permit<M> {
        if cost < Cost::INLINE {
            return Permit::Here;
        }
        let slot = self.offload.lane(cost).enter(self.user, false).await;
        let memory = memory.await;
        match slot {
            Ok(slot) => Permit::Thread(slot, memory),
            // Unbounded waiters are never refused.
            Err(_) => Permit::Here,
        }
    }
}

/// A permit to run work, with the memory that is reserved for it.
#[derive(Debug)]
pub(crate) enum Permit<M> {
    /// The thread of the caller, for cheap work.
    Here,
    /// A thread that is taken out of the runtime meanwhile.
    Thread(Slot, M),
}

impl<M> Permit<M> {
    /// Runs `work`.
    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        match self {
            Self::Here => work(),
            Self::Thread(slot, _memory) => slot.run(work),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use futures_util::FutureExt as _;
    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn small_work_never_waits_and_short_work_not_for_long_work() {
        let offload = Arc::new(Offload::new(1));
        let turns = offload.turns(&UserInfo::default());
        let long = offload.lane(Cost::LONG).enter(1, true).now_or_never().expect("free");
        assert_eq!(turns.run(Cost::of_json(100), || 1).now_or_never(), Some(Ok(1)));
        assert_eq!(turns.run(Cost::INLINE, || 2).now_or_never(), Some(Ok(2)));
        assert!(turns.run(Cost::LONG, || 3).now_or_never().is_none());
        drop(long);
        assert_eq!(turns.run(Cost::LONG, || 4).now_or_never(), Some(Ok(4)));
    }

    #[test]
    fn a_waiting_request_reserves_no_memory() {
        let offload = Arc::new(Offload::new(1));
        let turns = offload.turns(&UserInfo::default());
        let memory = Semaphore::new(1);
        let mut cx = Context::from_waker(Waker::noop());
        let taken = offload.lane(Cost::LONG).enter(0, true).now_or_never().expect("free");
        let mut waiting = pin!(async {
            turns
                .permit(Cost::LONG, memory.acquire())
                .await
                .map(|permit| permit.run(|| 1))
        });
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        let short = turns.permit(Cost::INLINE, memory.acquire()).now_or_never();
        assert_eq!(short.expect("the memory is free").map(|permit| permit.run(|| 2)), Ok(2));
        drop(taken);
        let reserved = memory.try_acquire().expect("free");
        assert!(waiting.as_mut().poll(&mut cx).is_pending(), "there is no memory");
        drop(reserved);
        assert_eq!(waiting.poll(&mut cx), Poll::Ready(Ok(1)));
        assert_eq!(memory.available_permits(), 1);
    }

    #[test]
    fn users_that_keep_the_cluster_going_are_not_refused() {
        let offload = Arc::new(Offload::new(1));
        let scheduler = UserInfo {
            name: "system:kube-scheduler".to_owned(),
            ..UserInfo::default()
        };
        let lane = offload.lane(Cost::LONG);
        let _taken = lane.enter(0, true).now_or_never().expect("free");
        let mut cx = Context::from_waker(Waker::noop());
        let pieces = (0..2000).map(|_| {
            let turns = offload.turns(&scheduler);
            Box::pin(async move { turns.run(Cost::LONG, || 1).await })
        });
        let mut waiting: Vec<_> = pieces.collect();
        assert!(waiting.iter_mut().all(|piece| piece.poll_unpin(&mut cx).is_pending()));
    }

    #[test]
    fn a_request_that_was_admitted_is_not_refused_later() {
        let offload = Arc::new(Offload::new(1));
        let [begun, late] = [offload.turns(&UserInfo::default()), offload.turns(&UserInfo::default())];
        assert_eq!(begun.run(Cost::LONG, || 1).now_or_never(), Some(Ok(1)));
        let lane = offload.lane(Cost::LONG);
        let _taken = lane.enter(0, true).now_or_never().expect("free");
        let mut cx = Context::from_waker(Waker::noop());
        let mut waiting = Vec::new();
        let refused = loop {
            let mut next = Box::pin(late.run(Cost::LONG, || 2));
            if let Poll::Ready(refused) = next.poll_unpin(&mut cx) {
                break refused.expect_err("too many wait");
            }
            waiting.push(next);
        };
        assert_eq!((refused.code(), refused.retry_after_seconds()), (429, Some(1)));
        assert!(pin!(begun.run(Cost::LONG, || 3)).poll_unpin(&mut cx).is_pending());
        assert!(pin!(late.finish(Cost::LONG, || 4)).poll_unpin(&mut cx).is_pending());
    }
}
