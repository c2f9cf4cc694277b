//! How many requests, how long, how large.

use std::sync::Arc;

use axum::response::Response;
use http_body::Body;

use super::{Exchange, Filter, Step};
use crate::metrics::{Marks, Metrics};

/// Counts each request when it is answered.
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
        let size = response.body().size_hint().exact();
        let took = ctx.received.elapsed();
        self.metrics
            .requests()
            .observe(&ctx.info, exchange.marks, response.status(), took, size);
    }
}
