//! The filter that gives requests their seats.

mod requested;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use axum::response::Response;
use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, StatusCode};

pub(crate) use self::requested::ServedObjects;
use super::{Exchange, Filter, Step};
use crate::flow_control::{Begun, Flow, FlowControl, Rejected, Turn};
use crate::in_flight::{InFlight, Permit, Seats, WatchStart};
use crate::request::{Stage, Verb};
use crate::response;

const SCHEMA: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const LEVEL: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");

/// Gives requests their seats, lets them wait for seats, or rejects them. Answers name the flow in headers.
///
/// Long-running requests need none, except watches, until they have started.
#[derive(Clone, Debug)]
pub struct FlowControlled {
    control: Arc<dyn FlowControl>,
    in_flight: InFlight,
    objects: ServedObjects,
    waiting: Arc<WaitingRequests>,
}

/// Numbers of waiting requests.
#[derive(Debug, Default)]
pub struct WaitingRequests {
    reading: AtomicUsize,
    writing: AtomicUsize,
}

impl FlowControlled {
    /// Asks `control`, and counts requests in `in_flight`.
    #[must_use]
    pub(crate) fn new(
        control: Arc<dyn FlowControl>,
        in_flight: InFlight,
        objects: ServedObjects,
        waiting: Arc<WaitingRequests>,
    ) -> Self {
        Self {
            control,
            in_flight,
            objects,
            waiting,
        }
    }

    fn run(&self, exchange: &mut Exchange, seats: Box<dyn Seats>) {
        let ctx = &exchange.ctx;
        match self.in_flight.kind(&ctx.info).and_then(|places| places.take(&ctx.user)) {
            Some(permit) => exchange.permit = Some(permit.with_seats(seats)),
            None => {
                let start = WatchStart::new(Permit::of_watch(seats));
                exchange.request.extensions_mut().insert(start);
            }
        }
    }
}

impl Filter for FlowControlled {
    fn name(&self) -> &'static str {
        "flow-control"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let ctx = &exchange.ctx;
        if ctx.info.is_long_running() && ctx.info.verb() != Verb::Watch {
            return Step::Continue;
        }
        let query = exchange.request.uri().query().unwrap_or_default();
        let work = self.objects.requested(&ctx.info, query, &ctx.features);
        let Begun { flow, turn } = self.control.begin(ctx, &work);
        insert(&mut exchange.headers, flow);
        match turn {
            Turn::Runs(seats) => {
                self.run(exchange, seats);
                Step::Continue
            }
            Turn::Rejected(rejected) => Step::Answer(refusal(rejected)),
            Turn::Waits(seats) => Step::Wait(Box::pin(async move {
                let (timeline, began) = (exchange.ctx.timeline.clone(), Instant::now());
                let counted = self.waiting.count(&exchange.ctx.info);
                let seats = seats.await;
                drop(counted);
                timeline.add(Stage::FlowControl, began, began.elapsed());
                match seats {
                    Ok(seats) => {
                        self.run(exchange, seats);
                        None
                    }
                    Err(rejected) => Some(refusal(rejected)),
                }
            })),
        }
    }
}

fn insert(headers: &mut HeaderMap, flow: Flow) {
    for (name, value) in [(SCHEMA, flow.schema), (LEVEL, flow.level)] {
        if let Some(value) = value {
            headers.insert(name, value);
        }
    }
}

fn refusal(rejected: Rejected) -> Response {
    let words = "Too many requests, please try again later.\n";
    let mut response = response::plain_text(StatusCode::TOO_MANY_REQUESTS, words);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(rejected.retry_after));
    response
}

impl WaitingRequests {
    /// Numbers of waiting reading and writing requests.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        (count(&self.reading), count(&self.writing))
    }

    fn count(&self, info: &crate::request::RequestInfo) -> Counted<'_> {
        let number = match info.method().is_safe() {
            true => &self.reading,
            false => &self.writing,
        };
        number.fetch_add(1, Ordering::Relaxed);
        Counted(number)
    }
}

/// A request that counts until this is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
