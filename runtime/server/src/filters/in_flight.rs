//! The filter that limits the number of requests in flight.

use super::{Exchange, Filter, Step};
use crate::in_flight::InFlight;
use crate::response;

impl Filter for InFlight {
    fn name(&self) -> &'static str {
        "in-flight"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let ctx = &exchange.ctx;
        let Some(places) = self.share(&ctx.user, &ctx.info) else {
            return Step::Continue;
        };
        exchange.permit = places.take(&ctx.user);
        if exchange.permit.is_some() {
            return Step::Continue;
        }
        Step::Answer(response::too_many_requests(1))
    }
}
