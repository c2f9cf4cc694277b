//! How many requests are served at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::header::{HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use planesmith_access::user::PRIVILEGED_GROUP;

use super::{Exchange, Filter, Step};
use crate::failure;

/// How many requests are served at once; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlightLimits {
    /// Reading ones (`--max-requests-inflight`).
    pub reading: usize,
    /// Writing ones (`--max-mutating-requests-inflight`).
    pub writing: usize,
}

impl Default for InFlightLimits {
    /// kube-apiserver's defaults.
    fn default() -> Self {
        Self {
            reading: 400,
            writing: 200,
        }
    }
}

/// Counts the requests that are being handled, and answers 429 when there are too many. A request counts until the last byte of
/// its answer is sent (`sending`).
///
/// Long-running requests do not count. Members of `system:masters` are served in any case, so that an administrator
/// gets through to an overloaded server.
#[derive(Clone, Debug)]
pub struct InFlight {
    limits: InFlightLimits,
    reading: Arc<AtomicUsize>,
    writing: Arc<AtomicUsize>,
}

/// The right to be in flight; dropping it makes room for the next request.
#[derive(Debug)]
pub struct Permit {
    counter: Arc<AtomicUsize>,
}

impl InFlight {
    /// Nobody is in flight.
    #[must_use]
    pub fn new(limits: InFlightLimits) -> Self {
        Self {
            limits,
            reading: Arc::default(),
            writing: Arc::default(),
        }
    }

    /// Reading and writing requests being handled now.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (
            self.reading.load(Ordering::Relaxed),
            self.writing.load(Ordering::Relaxed),
        )
    }
}

impl Permit {
    /// One more, unless `limit` are there already.
    fn take(counter: &Arc<AtomicUsize>, limit: usize, in_any_case: bool) -> Option<Self> {
        let before = counter.fetch_add(1, Ordering::Relaxed);
        let permit = Permit {
            counter: Arc::clone(counter),
        };
        (limit == 0 || before < limit || in_any_case).then_some(permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.counter.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Filter for InFlight {
    fn name(&self) -> &'static str {
        "in-flight"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let ctx = &exchange.ctx;
        if ctx.info.is_long_running() {
            return Step::Continue;
        }
        let (counter, limit) = match *ctx.info.method() {
            Method::GET | Method::HEAD | Method::OPTIONS => (&self.reading, self.limits.reading),
            _ => (&self.writing, self.limits.writing),
        };
        exchange.permit = Permit::take(counter, limit, ctx.user.is_in(PRIVILEGED_GROUP));
        if exchange.permit.is_some() {
            return Step::Continue;
        }
        let words = "Too many requests, please try again later.\n";
        let mut response = failure::text(StatusCode::TOO_MANY_REQUESTS, words);
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
        Step::Answer(response)
    }
}
