//! API priority and fairness: flow control by the stored flow schemas and priority levels.
//!
//! In reading order: [`rule`] (the requests of a schema), [`configuration`] (all schemas and levels), [`estimate`] (the seats that a
//! request needs), [`request_seats`] (the seats that it has), [`page`] (pages for people). The engine is `planesmith_flow_control`.

mod configuration;
mod estimate;
mod kind_gauges;
mod page;
mod readings;
mod request_seats;
mod rule;
mod served_level;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use planesmith_api_defs::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use planesmith_flow_control::{FlowHasher, Levels, MonotonicClock, Rejection, Start, Waiting, longest_wait};
use planesmith_machinery::clock::Clock;
use planesmith_machinery::object::Resource as _;
use planesmith_server::flow_control::{Begun, DebugPage, Flow, FlowControl, Rejected, RequestedWork, Turn};
use planesmith_server::hooks::Hook;
use planesmith_server::in_flight::Seats;
use planesmith_server::metrics::{FlowReadings, RejectionReason, SharedMetrics};
use planesmith_server::request::{Context, RequestInfo};
use planesmith_server::stores::{Derived, ResourceStore, Stores};

use self::configuration::{Configuration, Schema};
use self::kind_gauges::{KindGauges, Phase};
use self::request_seats::{Described, RequestSeats};

/// The hook that adjusts levels to their demand while the server runs.
const HOOK: &str = "priority-and-fairness-filter";

/// Flow control by the stored objects.
///
/// Requests read an immutable configuration, without a lock. The first request after an acknowledged write brings it up to date.
#[derive(Debug)]
pub(crate) struct PriorityAndFairness {
    configuration: Derived<Configuration>,
    levels: Levels<Described>,
    hasher: FlowHasher,
    /// True if lists are estimated by their bytes.
    by_bytes: bool,
    metrics: SharedMetrics,
    kinds: Arc<KindGauges>,
    /// The time of day, for pages.
    clock: Arc<dyn Clock>,
}

impl PriorityAndFairness {
    /// Divides the seats among the stored levels: the sum of the `limits` of reading and of writing requests.
    pub(crate) fn new(stores: &Stores, limits: [u32; 2], by_bytes: bool) -> Self {
        let schemas = stores.resource(FlowSchema::RESOURCE);
        let levels = stores.resource(PriorityLevelConfiguration::RESOURCE);
        let seats = limits[0].saturating_add(limits[1]);
        Self {
            configuration: Derived::new(vec![schemas, levels]),
            levels: Levels::new(seats, Arc::new(MonotonicClock)),
            hasher: FlowHasher::default(),
            by_bytes,
            metrics: Arc::clone(&stores.options().metrics),
            kinds: Arc::new(KindGauges::new(limits)),
            clock: Arc::clone(stores.scheme().clock()),
        }
    }

    /// The hook that adjusts levels to their demand.
    pub(crate) fn hook(self: &Arc<Self>) -> Hook {
        let control = Arc::clone(self);
        Hook::new(HOOK, move |mut shutdown| async move {
            tokio::spawn(async move {
                loop {
                    tokio::select! {
                        () = shutdown.requested() => return,
                        () = tokio::time::sleep(Levels::<Described>::ADJUSTMENT_PERIOD) => control.levels.adjust(),
                    }
                }
            });
            Ok(())
        })
    }

    /// Passes the configuration with all acknowledged writes to `read`. There are few objects, and they change rarely.
    fn with_current<R>(&self, read: impl FnOnce(&Configuration) -> R) -> R {
        let compute = |stores: &[Arc<ResourceStore>], former: Option<&Configuration>| {
            let schemas = stores[0].all();
            let levels = stores[1].all();
            let metrics = self.metrics.flow_control();
            Configuration::new(schemas, levels, &self.levels, former, metrics, &self.kinds)
        };
        self.configuration.with(compute, read)
    }

    /// Begins a request of `schema`.
    fn begin_in(&self, schema: &Arc<Schema>, ctx: &Context, work: &RequestedWork) -> Begun {
        let level = schema.level.level();
        let estimate = estimate::estimate(work, level.widest_request(), self.by_bytes);
        let watches = match work {
            RequestedWork::Write { watches } => Some(*watches),
            _ => None,
        };
        schema.series.arrived(estimate.max_seats(), watches);
        let described = Described {
            schema: Arc::clone(schema),
            user: Arc::clone(&ctx.user),
            info: Arc::clone(&ctx.info),
        };
        let hash = self
            .hasher
            .hash(&schema.name, schema.distinguisher(&ctx.user, &ctx.info));
        let turn = match level.start(estimate, hash, described) {
            Start::Runs(seats) => Turn::Runs(Box::new(RequestSeats::begin(Arc::clone(schema), &ctx.info, seats))),
            Start::Rejected(reason) => Turn::Rejected(schema.reject(rejection_reason(reason))),
            Start::Waits { waiting, queue_length } => {
                schema.series.queued(queue_length);
                let queued = Queued::new(schema, &ctx.info, waiting);
                Turn::Waits(Box::pin(queued.wait(ctx.deadline)))
            }
        };
        Begun {
            flow: schema.flow.clone(),
            turn,
        }
    }
}

impl FlowControl for PriorityAndFairness {
    fn begin(&self, ctx: &Context, work: &RequestedWork) -> Begun {
        self.with_current(|configuration| match configuration.classify(&ctx.user, &ctx.info) {
            Some(schema) => self.begin_in(schema, ctx, work),
            // The catch-all schema exists in any case.
            None => Begun {
                flow: Flow::default(),
                turn: Turn::Rejected(Rejected { retry_after: 1 }),
            },
        })
    }

    fn page(&self, page: DebugPage) -> String {
        self.with_current(|_| {});
        page::render(page, &self.levels, self.clock.now())
    }

    fn readings(&self) -> FlowReadings {
        self.with_current(|_| {});
        readings::of(&self.levels, &self.kinds)
    }
}

fn rejection_reason(rejection: Rejection) -> RejectionReason {
    match rejection {
        Rejection::QueueFull => RejectionReason::QueueFull,
        Rejection::ConcurrencyLimit => RejectionReason::ConcurrencyLimit,
    }
}

/// A request in a queue. Dropping it counts it as one whose client disconnected.
struct Queued {
    schema: Arc<Schema>,
    info: Arc<RequestInfo>,
    waiting: Waiting<Described>,
    since: Instant,
    /// True once the end of the wait is counted.
    has_ended: bool,
}

impl Queued {
    fn new(schema: &Arc<Schema>, info: &Arc<RequestInfo>, waiting: Waiting<Described>) -> Self {
        let since = Instant::now();
        schema.kinds.begin(Phase::Waiting, info.is_mutating(), since);
        Self {
            schema: Arc::clone(schema),
            info: Arc::clone(info),
            waiting,
            since,
            has_ended: false,
        }
    }

    async fn wait(mut self, deadline: Option<Instant>) -> Result<Box<dyn Seats>, Rejected> {
        let limit = longest_wait(self.since, deadline);
        let seats = match tokio::time::timeout(limit, &mut self.waiting).await {
            Ok(seats) => Some(seats),
            Err(_) => self.waiting.time_out(),
        };
        self.end(seats.is_some());
        match seats {
            Some(seats) => Ok(Box::new(RequestSeats::begin(
                Arc::clone(&self.schema),
                &self.info,
                seats,
            ))),
            None => Err(self.schema.reject(RejectionReason::TimeOut)),
        }
    }

    /// Counts the end of the wait.
    fn end(&mut self, executes: bool) {
        self.has_ended = true;
        let (now, schema) = (Instant::now(), &self.schema);
        schema.kinds.end(Phase::Waiting, self.info.is_mutating(), now);
        let waited = now.saturating_duration_since(self.since);
        let not_accommodated = self.waiting.not_accommodated();
        schema.series.left_queue(waited, executes, not_accommodated);
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end(false);
            self.schema.series.rejected(RejectionReason::Cancelled);
        }
    }
}
