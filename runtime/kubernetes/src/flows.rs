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

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arc_swap::{ArcSwap, Guard};
use planesmith_api_defs::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use planesmith_flow_control::{
    Clock, Levels, Rejection, Start, SystemClock, Waiting, WorkEstimate, flow_hash, longest_wait,
};
use planesmith_machinery::object::Resource as _;
use planesmith_server::flow_control::{Begun, DebugPage, Flow, FlowControl, Rejected, RequestedWork, Turn};
use planesmith_server::hooks::Hook;
use planesmith_server::in_flight::Seats;
use planesmith_server::metrics::{FlowReadings, SharedMetrics};
use planesmith_server::request::Context;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{ChangeSignal, Watcher};

use self::configuration::{Configuration, Schema};
use self::kind_gauges::{KindGauges, Phase};
use self::request_seats::{Described, RequestSeats};

/// The hook that adjusts levels to their demand while the server runs.
const HOOK: &str = "priority-and-fairness-filter";

/// Flow control by the stored objects.
///
/// Requests read an immutable configuration, without a lock. Two numbers tell if it is behind the stores; the first request after a
/// write brings it up to date. A write is signalled before it is acknowledged, so a request that follows it sees it.
#[derive(Debug)]
pub(crate) struct PriorityAndFairness {
    schemas: Arc<ResourceStore>,
    levels: Arc<ResourceStore>,
    signals: [ChangeSignal; 2],
    /// The readers of changes. Locked while a configuration is made.
    watchers: Mutex<[Watcher; 2]>,
    current: ArcSwap<Configuration>,
    served: Levels<Described>,
    /// True if lists are estimated by their bytes.
    by_bytes: bool,
    metrics: SharedMetrics,
    kinds: Arc<KindGauges>,
}

impl PriorityAndFairness {
    /// Divides the seats among the stored levels: the sum of the `limits` of reading and of writing requests.
    pub(crate) fn new(stores: &Stores, limits: [u32; 2], by_bytes: bool) -> Self {
        let schemas = stores.resource(FlowSchema::RESOURCE);
        let levels = stores.resource(PriorityLevelConfiguration::RESOURCE);
        let metrics = Arc::clone(&stores.options().metrics);
        let seats = limits[0].saturating_add(limits[1]);
        let served = Levels::new(seats, Arc::new(SystemClock) as Arc<dyn Clock>);
        // Positions are taken before the objects are read: a change in between is read again.
        let watchers = [schemas.watch(), levels.watch()];
        let signals = watchers.each_ref().map(Watcher::signal);
        let positions = watchers.each_ref().map(Watcher::position);
        let flow_control = metrics.flow_control();
        let configuration = Configuration::new(positions, schemas.all(), levels.all(), &served, None, flow_control);
        Self {
            schemas,
            levels,
            signals,
            watchers: Mutex::new(watchers),
            current: ArcSwap::from_pointee(configuration),
            served,
            by_bytes,
            metrics,
            kinds: Arc::new(KindGauges::new(limits)),
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
                        () = tokio::time::sleep(Levels::<Described>::ADJUSTMENT_PERIOD) => control.served.adjust(),
                    }
                }
            });
            Ok(())
        })
    }

    /// The configuration with all acknowledged writes.
    fn current(&self) -> Guard<Arc<Configuration>> {
        let current = self.current.load();
        if !self.is_behind(&current) {
            return current;
        }
        self.catch_up();
        self.current.load()
    }

    fn is_behind(&self, configuration: &Configuration) -> bool {
        let mut each = self.signals.iter().zip(configuration.positions);
        each.any(|(signal, position)| signal.is_behind(position))
    }

    /// Reads the objects again. There are few of them, and they change rarely.
    fn catch_up(&self) {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        let former = self.current.load();
        // Another request may have done it meanwhile.
        if !self.is_behind(&former) {
            return;
        }
        for (watcher, store) in watchers.iter_mut().zip([&self.schemas, &self.levels]) {
            // The changes themselves do not matter. Where some were missed, the watcher begins anew.
            if watcher.try_next().is_err() {
                *watcher = store.watch();
            }
        }
        let positions = watchers.each_ref().map(Watcher::position);
        let (schemas, levels) = (self.schemas.all(), self.levels.all());
        let metrics = self.metrics.flow_control();
        let next = Configuration::new(positions, schemas, levels, &self.served, Some(&**former), metrics);
        self.current.store(Arc::new(next));
    }

    fn rejected(schema: &Schema, reason: Rejection) -> Rejected {
        schema.series.rejected(reason.as_str());
        Rejected {
            retry_after: schema.level.level().reject(),
        }
    }
}

impl FlowControl for PriorityAndFairness {
    fn begin(&self, ctx: &Context, work: &RequestedWork) -> Begun {
        let configuration = self.current();
        let Some(schema) = configuration.classify(&ctx.user, &ctx.info) else {
            // The catch-all schema exists in any case.
            return Begun {
                flow: Flow::default(),
                turn: Turn::Rejected(Rejected { retry_after: 1 }),
            };
        };
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
        let hash = || flow_hash(&schema.name, schema.distinguisher(&ctx.user, &ctx.info));
        let turn = match level.start(estimate, hash, described.clone()) {
            Start::Runs(seats) => Turn::Runs(Box::new(RequestSeats::begin(&described, seats, &estimate, &self.kinds))),
            Start::Rejected(reason) => Turn::Rejected(Self::rejected(schema, reason)),
            Start::Waits { waiting, queue_length } => {
                schema.series.queued(queue_length);
                let queued = Queued::new(described, &self.kinds);
                let deadline = ctx.deadline;
                Turn::Waits(Box::pin(queued.wait(waiting, estimate, deadline)))
            }
        };
        let flow = schema.flow.clone();
        Begun { flow, turn }
    }

    fn page(&self, page: DebugPage) -> String {
        drop(self.current());
        page::render(page, &self.served)
    }

    fn readings(&self) -> FlowReadings {
        readings::of(&self.served, &self.kinds)
    }
}

/// A request in a queue. Dropping it counts it as one whose client went away.
struct Queued {
    /// `None` once the end of the wait is counted.
    described: Option<Described>,
    since: Instant,
    kinds: Arc<KindGauges>,
}

impl Queued {
    fn new(described: Described, kinds: &Arc<KindGauges>) -> Self {
        let since = Instant::now();
        kinds.begin(Phase::Waiting, &described.info, since);
        Self {
            described: Some(described),
            since,
            kinds: Arc::clone(kinds),
        }
    }

    async fn wait(
        mut self,
        mut waiting: Waiting<Described>,
        estimate: WorkEstimate,
        deadline: Option<Instant>,
    ) -> Result<Box<dyn Seats>, Rejected> {
        let limit = longest_wait(self.since, deadline);
        let seats = match tokio::time::timeout(limit, &mut waiting).await {
            Ok(seats) => Some(seats),
            Err(_) => waiting.time_out(),
        };
        let Some(described) = self.described.take() else {
            return Err(Rejected { retry_after: 1 });
        };
        let schema = &described.schema;
        self.count_end(&described, seats.is_some());
        match seats {
            Some(seats) => Ok(Box::new(RequestSeats::begin(&described, seats, &estimate, &self.kinds))),
            None => Err(PriorityAndFairness::rejected(schema, Rejection::TimeOut)),
        }
    }

    fn count_end(&self, described: &Described, executes: bool) {
        let now = Instant::now();
        self.kinds.end(Phase::Waiting, &described.info, now);
        let waited = now.saturating_duration_since(self.since);
        described.schema.series.left_queue(waited, executes);
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        if let Some(described) = self.described.take() {
            self.count_end(&described, false);
            described.schema.series.rejected(Rejection::Cancelled.as_str());
        }
    }
}
