//! Metrics about the number, duration and size of requests.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};

use super::{Exchange, Filter, Step};
use crate::body::{AtEnd, Watched};
use crate::metrics::{LabelSource, LongRequest, Metrics, SizeOfAnswer};

/// Counts each request when it is answered; a long-running request is counted when it ends.
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
        exchange.marks = LabelSource::from_request(request.method(), request.uri().query(), request.headers());
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let ctx = &exchange.ctx;
        let (requests, code) = (self.metrics.requests(), response.status());
        if !ctx.info.is_long_running() || !(code.is_success() || code.is_informational()) {
            let size = response.body().size_hint().exact();
            requests.observe(ctx, exchange.marks, code, size);
            if let (None, Some(size)) = (size, requests.measure(ctx, exchange.marks, code)) {
                let body = std::mem::take(response.body_mut());
                *response.body_mut() = Body::new(Measured { body, size });
            }
            return;
        }
        let running = requests.begin(ctx, exchange.marks, code);
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = Body::new(Watched::new(body, running));
    }
}

/// A body whose size is measured while it is sent.
struct Measured {
    body: Body,
    size: SizeOfAnswer,
}

impl http_body::Body for Measured {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame {
            self.size.add(frame.data_ref().map_or(0, Bytes::len));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl AtEnd for LongRequest {
    /// Dropping it counts the request.
    fn at_end(self) {}
}
