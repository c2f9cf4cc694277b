//! The filter that gives requests their seats.

mod requested;

use std::sync::Arc;
use std::time::Instant;

pub(crate) use self::requested::ServedObjects;
use super::{Exchange, Filter, Step};
use crate::flow_control::{Begun, FlowControl, Turn};
use crate::in_flight::{InFlight, Seats, WatchStart};
use crate::request::{Stage, Verb};
use crate::response;

/// Gives requests their seats, lets them wait for seats, or rejects them. Answers name the flow in headers.
///
/// Long-running requests need none, except watches, until they have started.
#[derive(Clone, Debug)]
pub struct FlowControlled {
    control: Arc<dyn FlowControl>,
    in_flight: InFlight,
    objects: ServedObjects,
}

impl FlowControlled {
    /// Asks `control`, and counts requests in `in_flight`.
    #[must_use]
    pub(crate) fn new(control: Arc<dyn FlowControl>, in_flight: InFlight, objects: ServedObjects) -> Self {
        Self {
            control,
            in_flight,
            objects,
        }
    }

    fn run(&self, exchange: &mut Exchange, seats: Box<dyn Seats>) {
        match self.in_flight.count(&exchange.ctx.info, seats) {
            Ok(permit) => exchange.permit = Some(permit),
            Err(seats) => drop(exchange.request.extensions_mut().insert(WatchStart::new(seats))),
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
        exchange.flow = flow;
        match turn {
            Turn::Runs(seats) => {
                self.run(exchange, seats);
                Step::Continue
            }
            Turn::Rejected(rejected) => Step::Answer(response::too_many_requests(rejected.retry_after)),
            Turn::Waits(seats) => Step::Wait(Box::pin(async move {
                let (timeline, began) = (exchange.ctx.timeline.clone(), Instant::now());
                let seats = seats.await;
                timeline.add(Stage::FlowControl, began, began.elapsed());
                match seats {
                    Ok(seats) => {
                        self.run(exchange, seats);
                        None
                    }
                    Err(rejected) => Some(response::too_many_requests(rejected.retry_after)),
                }
            })),
        }
    }
}

#[cfg(test)]
mod tests;
