//! The filter that limits the number of requests in flight.

use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER};

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
        let words = "Too many requests, please try again later.\n";
        let mut response = response::plain_text(StatusCode::TOO_MANY_REQUESTS, words);
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
        Step::Answer(response)
    }
}
