//! Work on documents, bounded in memory and processor time.

use planesmith_machinery::status::ApiResult;

use super::{Call, Endpoint};
use crate::large_bodies::Reserved;
use crate::offload::{Cost, Permit, Turns};

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
        Ok(self.permit(call, size, cost).await?.run(work))
    }

    /// Like [`Self::run`], for work of a request that cannot be refused any more.
    pub(crate) async fn finish<T>(&self, call: &Call, size: usize, cost: Cost, work: impl FnOnce() -> T) -> T {
        self.certain_permit(call, size, cost).await.run(work)
    }

    async fn permit(&self, call: &Call, size: usize, cost: Cost) -> ApiResult<Permit<Reserved<'_>>> {
        if cost < Cost::INLINE {
            return Ok(Permit::Here);
        }
        let memory = self.stores().large_bodies().reserve(size, cost);
        self.turns(call).permit(cost, memory).await
    }

    async fn certain_permit(&self, call: &Call, size: usize, cost: Cost) -> Permit<Reserved<'_>> {
        if cost < Cost::INLINE {
            return Permit::Here;
        }
        let memory = self.stores().large_bodies().reserve(size, cost);
        self.turns(call).certain_permit(cost, memory).await
    }
}
