//! How many requests, how long, how large.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http_body::Body as _;

use super::{Exchange, Filter, Step};
use crate::body::{AtEnd, Watched};
use crate::metrics::{LongRequest, Marks, Metrics};

/// Counts each request when it is answered; one that lasts as long as its client wants, when it is over.
#[derive(Clone, Debug)]
pub struct Count {
    metrics: Arc<Metrics>,
}

impl Count {
    /// Counts in `metrics`.
    #[must_use]
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics }
    }
}

impl Filter for Count {
    fn name(&self) -> &'static str {
        "count"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let request = &exchange.request;
        exchange.marks = Marks::of(request.method(), request.uri().query(), request.headers());
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let ctx = &exchange.ctx;
        let (requests, code) = (self.metrics.requests(), response.status());
        if !ctx.info.is_long_running() || !(code.is_success() || code.is_informational()) {
            let size = response.body().size_hint().exact();
            return requests.observe(ctx, exchange.marks, code, size);
        }
        let running = requests.begin(ctx, exchange.marks, code);
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = Body::new(Watched::new(body, running));
    }
}

impl AtEnd for LongRequest {
    /// Dropping it counts it.
    fn at_end(self) {}
}
