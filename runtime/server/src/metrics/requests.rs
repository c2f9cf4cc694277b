//! Counts and durations of requests, by their labels and response codes.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use http::StatusCode;
use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Registry};

use super::gauges;
use super::labels::{LabelSource, Labels, PLACE};
use super::series::{Series, counted, measured};
use super::{Inventory, StoredCounts};

use crate::request::{Context, RequestInfo, Verb};

/// The user of the server's own requests.
const SELF: &str = "system:apiserver";

/// kube-apiserver's buckets, in seconds.
pub(super) const SECONDS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];
/// kube-apiserver's buckets, in bytes.
const BYTES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// Counts and durations of requests, by their labels and response codes.
///
/// Finding the counters of a request takes one hash of its labels and no lock. Names that clients invent do not become
/// labels: requests for resources that are not served are counted without a resource.
#[derive(Debug)]
pub(crate) struct RequestMetrics {
    total: Series<IntCounterVec>,
    seconds: Series<HistogramVec>,
    level_seconds: Series<HistogramVec>,
    bytes: Series<HistogramVec>,
    running: Series<IntGaugeVec>,
    terminated: Series<IntCounterVec>,
    own: Series<IntCounterVec>,
    deprecated: Series<IntGaugeVec>,
    inventory: OnceLock<Box<dyn Inventory>>,
    hasher: RandomState,
    cells: ArcSwap<HashMap<u64, Arc<Cell>>>,
}

/// The counters of one set of labels.
#[derive(Debug)]
struct Cell {
    total: IntCounter,
    seconds: Histogram,
    /// `None` for requests that read.
    level_seconds: Option<Histogram>,
    /// `None` for answers to requests that do not read.
    bytes: Option<Histogram>,
    running: Option<IntGauge>,
    own: OnceLock<IntCounter>,
    labels: [Box<str>; 3],
}

/// A long-running request; counted when this is dropped.
#[derive(Debug)]
pub(crate) struct LongRequest {
    cell: Arc<Cell>,
    received: std::time::Instant,
}

impl Drop for LongRequest {
    fn drop(&mut self) {
        if let Some(running) = &self.cell.running {
            running.dec();
        }
        self.cell.count(self.received.elapsed());
    }
}

/// The size of an answer that is only known once it is sent; observed when this is dropped.
#[derive(Debug)]
pub(crate) struct SizeOfAnswer {
    sizes: Histogram,
    bytes: u64,
}

impl SizeOfAnswer {
    /// Adds the number of bytes that were sent.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }
}

impl Drop for SizeOfAnswer {
    #[expect(clippy::cast_precision_loss, reason = "the bucket does not change by a byte")]
    fn drop(&mut self) {
        self.sizes.observe(self.bytes as f64);
    }
}

impl Cell {
    fn is_of(&self, group: &str, resource: &str) -> bool {
        let [_, own_group, place] = &self.labels;
        let own = place.split_once('/').map_or(&**place, |(own, _)| own);
        (&**own_group, own) == (group, resource)
    }

    fn count(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        self.total.inc();
        self.seconds.observe(seconds);
        if let Some(level) = &self.level_seconds {
            level.observe(seconds);
        }
    }
}

impl RequestMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let deprecated = ["group", "version", "resource", "subresource", "removed_release"];
        let with = |more: &[&'static str]| [&PLACE[..], more].concat();
        Self {
            total: counted(
                registry,
                "apiserver_request_total",
                "Requests answered.",
                &with(&["dry_run", "code"]),
            ),
            seconds: measured(
                registry,
                "apiserver_request_duration_seconds",
                "Time to the answer, in seconds; of watches, all the time that they last.",
                &SECONDS,
                &with(&["dry_run"]),
            ),
            level_seconds: measured(
                registry,
                "apiserver_request_sli_duration_seconds",
                "Time to the answer, in seconds, of requests that are no dry runs.",
                &SECONDS[2..],
                &PLACE,
            ),
            bytes: measured(
                registry,
                "apiserver_response_sizes",
                "Size of answers to reads, in bytes.",
                &BYTES,
                &PLACE,
            ),
            running: Series::new(
                gauges(
                    registry,
                    "apiserver_longrunning_requests",
                    "Watches, streams and proxied requests that are going on.",
                    &PLACE,
                ),
                &PLACE,
            ),
            terminated: counted(
                registry,
                "apiserver_request_terminations_total",
                "Requests rejected or terminated to protect the server.",
                &with(&["code"]),
            ),
            own: counted(
                registry,
                "apiserver_selfrequest_total",
                "Requests that the server sends to itself.",
                &["verb", "group", "resource", "subresource"],
            ),
            deprecated: Series::new(
                gauges(
                    registry,
                    "apiserver_requested_deprecated_apis",
                    "Deprecated versions that were requested; always 1.",
                    &deprecated,
                ),
                &deprecated,
            ),
            inventory: OnceLock::new(),
            hasher: RandomState::new(),
            cells: ArcSwap::default(),
        }
    }

    /// Ends the series of a resource that is not served any more.
    pub(super) fn forget(&self, group: &str, resource: &str) {
        let counters = [&self.total, &self.terminated, &self.own];
        counters.iter().for_each(|counter| counter.forget(group, resource));
        let histograms = [&self.seconds, &self.level_seconds, &self.bytes];
        histograms
            .iter()
            .for_each(|histogram| histogram.forget(group, resource));
        let gauges = [&self.running, &self.deprecated];
        gauges.iter().for_each(|gauge| gauge.forget(group, resource));
        self.cells.rcu(|cells| {
            let mut cells = HashMap::clone(cells);
            cells.retain(|_, cell| !cell.is_of(group, resource));
            cells
        });
    }

    /// Sets the inventory of the served resources.
    pub(crate) fn set_inventory(&self, inventory: Box<dyn Inventory>) {
        // Set once, when the chain is prepared; a second chain with the same metrics has the same resources.
        let _ = self.inventory.set(inventory);
    }

    /// Counts of the stored objects of the served resources.
    pub(super) fn stored(&self) -> Vec<StoredCounts> {
        self.inventory
            .get()
            .map_or_else(Vec::new, |inventory| inventory.stored())
    }

    /// Counts an answered request, with the size of the answer if it is known.
    pub(crate) fn observe(&self, ctx: &Context, marks: LabelSource, code: StatusCode, bytes: Option<u64>) {
        let cell = self.cell(&ctx.info, marks, code);
        cell.count(ctx.received.elapsed());
        if let (Some(bytes), Some(sizes)) = (bytes, &cell.bytes) {
            #[expect(clippy::cast_precision_loss, reason = "the bucket does not change by a byte")]
            sizes.observe(bytes as f64);
        }
        if ctx.user.name == SELF {
            self.count_own(&cell);
        }
        if matches!(code, StatusCode::TOO_MANY_REQUESTS | StatusCode::GATEWAY_TIMEOUT) {
            let labels = self.published_labels(Labels::new(&ctx.info, marks, code), &ctx.info);
            let values = [&labels.place()[..], &[code.as_str()]].concat();
            self.terminated.with_label_values(&values).inc();
        }
    }

    /// Begins to measure the answer to a read; `None` for other answers.
    pub(crate) fn measure(&self, ctx: &Context, marks: LabelSource, code: StatusCode) -> Option<SizeOfAnswer> {
        let sizes = self.cell(&ctx.info, marks, code).bytes.clone()?;
        Some(SizeOfAnswer { sizes, bytes: 0 })
    }

    /// Begins to count a long-running request.
    pub(crate) fn begin(&self, ctx: &Context, marks: LabelSource, code: StatusCode) -> LongRequest {
        let cell = self.cell(&ctx.info, marks, code);
        if ctx.user.name == SELF {
            self.count_own(&cell);
        }
        if let Some(running) = &cell.running {
            running.inc();
        }
        LongRequest {
            cell,
            received: ctx.received,
        }
    }

    fn count_own(&self, cell: &Cell) {
        let own = cell.own.get_or_init(|| {
            let [verb, group, rest] = &cell.labels;
            let (resource, subresource) = rest.split_once('/').unwrap_or((rest, ""));
            self.own.with_label_values(&[&**verb, &**group, resource, subresource])
        });
        own.inc();
    }

    /// Records a request for a deprecated version of a resource; `removed` is the release without it, empty if unknown.
    pub(crate) fn note_deprecated(&self, info: &RequestInfo, removed: &str) {
        let labels = [
            info.group(),
            info.version(),
            info.resource(),
            info.subresource(),
            removed,
        ];
        self.deprecated.with_label_values(&labels).set(1);
    }

    fn cell(&self, info: &RequestInfo, marks: LabelSource, code: StatusCode) -> Arc<Cell> {
        let labels = Labels::new(info, marks, code);
        let hash = self.hasher.hash_one(labels);
        let known = self.cells.load().get(&hash).cloned();
        known.unwrap_or_else(|| self.make_cell(hash, labels, info))
    }

    fn is_served(&self, info: &RequestInfo) -> bool {
        self.inventory.get().is_some_and(|inventory| inventory.serves(info))
    }

    fn published_labels<'l>(&self, labels: Labels<'l>, info: &RequestInfo) -> Labels<'l> {
        if info.is_resource() && !self.is_served(info) {
            labels.without_resource()
        } else {
            labels
        }
    }

    /// Creates the counters of `labels`. Label sets with equal hashes would share counters, with a probability of one
    /// in 2^64.
    fn make_cell(&self, hash: u64, labels: Labels<'_>, info: &RequestInfo) -> Arc<Cell> {
        let served = !info.is_resource() || self.is_served(info);
        let published = if served { labels } else { labels.without_resource() };
        let place = published.place();
        let with = |more: &[&'static str]| [&place[..], more].concat();
        let is_read = matches!(info.verb(), Verb::Get | Verb::List);
        let cell = Arc::new(Cell {
            total: self
                .total
                .with_label_values(&[&with(&[labels.dry_run])[..], &[labels.code.as_str()]].concat()),
            seconds: self.seconds.with_label_values(&with(&[labels.dry_run])),
            level_seconds: labels
                .dry_run
                .is_empty()
                .then(|| self.level_seconds.with_label_values(&place)),
            bytes: is_read.then(|| self.bytes.with_label_values(&place)),
            running: info.is_long_running().then(|| self.running.with_label_values(&place)),
            own: OnceLock::new(),
            labels: [
                published.verb.into(),
                published.group.into(),
                format!("{}/{}", published.resource, published.subresource).into(),
            ],
        });
        if served {
            self.cells.rcu(|cells| {
                let mut cells = HashMap::clone(cells);
                cells.insert(hash, Arc::clone(&cell));
                cells
            });
        }
        cell
    }
}
