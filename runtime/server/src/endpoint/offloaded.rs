//! Work on documents, bounded in memory and processor time.

use planesmith_machinery::status::ApiResult;

use super::{Call, Endpoint};
use crate::offload::{Cost, Turns};

impl Endpoint {
    /// The turns of the request `call`.
    pub(crate) fn turns<'a>(&self, call: &'a Call) -> &'a Turns {
        let turns = || self.stores().offload().turns(&call.ctx.user);
        call.turns.get_or_init(turns)
    }

    /// Runs `work` on documents of about `size` bytes, with the expected cost `cost`, as soon as a thread and then
    /// memory for it are available.
    ///
    /// # Errors
    ///
    /// 429 as for [`Turns::run`].
    pub(crate) async fn run<T>(&self, call: &Call, size: usize, cost: Cost, work: impl FnOnce() -> T) -> ApiResult<T> {
        if cost < Cost::INLINE {
            return Ok(work());
        }
        let memory = self.stores().large_bodies().reserve(size, cost);
        self.turns(call).run_with(cost, memory, work).await
    }

    /// Like [`Self::run`], for work of a request that cannot be refused any more.
    pub(crate) async fn finish<T>(&self, call: &Call, size: usize, cost: Cost, work: impl FnOnce() -> T) -> T {
        if cost < Cost::INLINE {
            return work();
        }
        let memory = self.stores().large_bodies().reserve(size, cost);
        self.turns(call).finish_with(cost, memory, work).await
    }
}
