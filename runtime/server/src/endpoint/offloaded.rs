//! Work on documents, where there is memory and processor time for it.

use planesmith_machinery::status::ApiResult;

use super::{Call, Endpoint};
use crate::offload::{Cost, Turns};

impl Endpoint {
    /// The turns of the request `call`.
    pub(crate) fn turns<'a>(&self, call: &'a Call) -> &'a Turns {
        let turns = || self.stores().offload().turns(&call.ctx.user);
        call.turns.get_or_init(turns)
    }

    /// Runs `work` on documents of about `size` bytes, which is expected to cost `cost`, as soon as there is a thread and then
    /// memory for it.
    ///
    /// # Errors
    ///
    /// 429 as [`Turns::run`] has it.
    pub(crate) async fn run<T>(&self, call: &Call, size: usize, cost: Cost, work: impl FnOnce() -> T) -> ApiResult<T> {
        if cost < Cost::INLINE {
            return Ok(work());
        }
        let memory = self.stores().large_bodies().reserve(size);
        self.turns(call).run_with(cost, memory, work).await
    }

    /// As [`Self::run`] for work that cannot be refused any more.
    pub(crate) async fn finish<T>(&self, call: &Call, size: usize, cost: Cost, work: impl FnOnce() -> T) -> T {
        if cost < Cost::INLINE {
            return work();
        }
        let memory = self.stores().large_bodies().reserve(size);
        self.turns(call).finish_with(cost, memory, work).await
    }
}
