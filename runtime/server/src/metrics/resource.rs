//! Metrics of each resource, counted where its requests are handled.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use planesmith_machinery::resource::{ResourceFacts, Text};
use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec, Registry};

use super::requests::SECONDS;
use super::series::{Series, counted, measured};

/// kube-apiserver's buckets for request bodies, in bytes: from 50 kB on, in steps of 100 kB.
fn body_bytes() -> Vec<f64> {
    (0..31).map(|step| 50e3 + 100e3 * f64::from(step)).collect()
}

/// kube-apiserver's buckets for watch events, in bytes.
const EVENT_BYTES: [f64; 8] = [1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0, 131_072.0];

/// kube-apiserver's buckets for lists that are streamed as watches, in seconds.
const WATCH_LIST_SECONDS: [f64; 17] = [
    0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];

/// kube-apiserver's buckets for the time until the cache is fresh, in seconds.
const FRESHNESS_SECONDS: [f64; 13] = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0];

/// The metrics of all resources.
#[derive(Debug)]
pub(super) struct AllResources {
    body_bytes: Series<HistogramVec>,
    watch_events: Series<IntCounterVec>,
    event_bytes: Series<HistogramVec>,
    watch_list_seconds: Series<HistogramVec>,
    initial_events: Series<IntCounterVec>,
    ended_watchers: Series<IntCounterVec>,
    lists: Series<IntCounterVec>,
    read: Series<IntCounterVec>,
    listed: Series<IntCounterVec>,
    /// Lists that read states back from the store: lists, objects that were read, evaluated and returned.
    store_lists: [Series<IntCounterVec>; 4],
    freshness_seconds: Series<HistogramVec>,
    fresh_reads: Series<IntCounterVec>,
    store_seconds: Series<HistogramVec>,
    store_requests: Series<IntCounterVec>,
    store_errors: Series<IntCounterVec>,
}

impl AllResources {
    pub(super) fn new(registry: &Registry) -> Self {
        let resource = ["group", "resource"];
        let version = ["group", "version", "resource"];
        let operation = ["operation", "group", "resource"];
        Self {
            body_bytes: measured(
                registry,
                "apiserver_request_body_size_bytes",
                "Size of the bodies of writes, in bytes.",
                &body_bytes(),
                &["group", "resource", "verb"],
            ),
            watch_events: counted(
                registry,
                "apiserver_watch_events_total",
                "Events sent to watches.",
                &version,
            ),
            event_bytes: measured(
                registry,
                "apiserver_watch_events_sizes",
                "Size of events sent to watches, in bytes.",
                &EVENT_BYTES,
                &version,
            ),
            watch_list_seconds: measured(
                registry,
                "apiserver_watch_list_duration_seconds",
                "Time until a watch has sent its initial state, in seconds.",
                &WATCH_LIST_SECONDS,
                &["group", "version", "resource", "scope"],
            ),
            initial_events: counted(
                registry,
                "apiserver_init_events_total",
                "Objects sent to watches as their initial state.",
                &resource,
            ),
            ended_watchers: counted(
                registry,
                "apiserver_terminated_watchers_total",
                "Watches ended because their clients were too slow.",
                &resource,
            ),
            lists: counted(
                registry,
                "apiserver_cache_list_total",
                "Lists answered from the cache.",
                &["group", "resource", "index"],
            ),
            read: counted(
                registry,
                "apiserver_cache_list_fetched_objects_total",
                "Objects that lists read from the cache.",
                &["group", "resource", "index"],
            ),
            listed: counted(
                registry,
                "apiserver_cache_list_returned_objects_total",
                "Objects in lists answered from the cache.",
                &resource,
            ),
            store_lists: lists_of_store(registry),
            freshness_seconds: measured(
                registry,
                "apiserver_watch_cache_read_wait_seconds",
                "Time that reads waited until the cache had everything that was written before, in seconds.",
                &FRESHNESS_SECONDS,
                &resource,
            ),
            fresh_reads: counted(
                registry,
                "apiserver_watch_cache_consistent_read_total",
                "Reads that waited until the cache had everything that was written before.",
                &["group", "resource", "success", "fallback"],
            ),
            store_seconds: measured(
                registry,
                "etcd_request_duration_seconds",
                "Time until the store has accepted or refused a write, in seconds.",
                &SECONDS,
                &operation,
            ),
            store_requests: counted(
                registry,
                "etcd_requests_total",
                "Writes requested from the store.",
                &operation,
            ),
            store_errors: counted(
                registry,
                "etcd_request_errors_total",
                "Writes that the store refused.",
                &operation,
            ),
        }
    }

    /// Ends the series of a resource.
    pub(super) fn forget(&self, group: &str, resource: &str) {
        let counters = [
            &self.watch_events,
            &self.initial_events,
            &self.ended_watchers,
            &self.lists,
            &self.read,
            &self.listed,
            &self.fresh_reads,
            &self.store_requests,
            &self.store_errors,
        ];
        let counters = counters.into_iter().chain(&self.store_lists);
        counters.for_each(|counter| counter.forget(group, resource));
        let histograms = [
            &self.body_bytes,
            &self.event_bytes,
            &self.watch_list_seconds,
            &self.freshness_seconds,
            &self.store_seconds,
        ];
        histograms
            .iter()
            .for_each(|histogram| histogram.forget(group, resource));
    }
}

/// The metrics of lists that read states back from the store: lists, objects that were read, evaluated and returned.
fn lists_of_store(registry: &Registry) -> [Series<IntCounterVec>; 4] {
    [
        (
            "apiserver_storage_list_total",
            "Lists of earlier states that were read back from the store.",
        ),
        (
            "apiserver_storage_list_fetched_objects_total",
            "Objects that such lists read.",
        ),
        (
            "apiserver_storage_list_evaluated_objects_total",
            "Objects that such lists compared with their selectors.",
        ),
        (
            "apiserver_storage_list_returned_objects_total",
            "Objects in such lists.",
        ),
    ]
    .map(|(name, help)| counted(registry, name, help, &["group", "resource"]))
}

/// The purpose of a request body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyUse {
    Create = 0,
    Update = 1,
    Patch = 2,
    Delete = 3,
    DeleteCollection = 4,
}

/// The operation on the store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StoreUse {
    Create = 0,
    Update = 1,
    Delete = 2,
}

/// The metrics of one version of a resource. A series is created when it is first counted, and reached without a lookup
/// from then on.
#[derive(Debug)]
pub(crate) struct ResourceMetrics {
    all: Arc<AllResources>,
    group: Text,
    version: Text,
    resource: Text,
    /// Group and name under which the objects are stored.
    stored_as: [Text; 2],
    body_bytes: [OnceLock<Histogram>; 5],
    watch: OnceLock<WatchMetrics>,
    lists: OnceLock<[IntCounter; 3]>,
    fresh: OnceLock<(Histogram, IntCounter)>,
    store: [OnceLock<StoreMetrics>; 3],
}

/// The metrics of watches.
#[derive(Clone, Debug)]
pub(crate) struct WatchMetrics {
    events: IntCounter,
    bytes: Histogram,
    initial: IntCounter,
    ended: IntCounter,
}

#[derive(Debug)]
struct StoreMetrics {
    seconds: Histogram,
    requests: IntCounter,
    errors: IntCounter,
}

impl ResourceMetrics {
    pub(super) fn new(all: &Arc<AllResources>, facts: &ResourceFacts) -> Self {
        let hub = facts.hub();
        Self {
            all: Arc::clone(all),
            group: facts.group.clone(),
            version: facts.version.clone(),
            resource: facts.plural.clone(),
            stored_as: [hub.group.clone(), hub.plural.clone()],
            body_bytes: Default::default(),
            watch: OnceLock::new(),
            lists: OnceLock::new(),
            fresh: OnceLock::new(),
            store: Default::default(),
        }
    }

    /// Counts a request body.
    pub(crate) fn body(&self, used: BodyUse, bytes: usize) {
        let verb = match used {
            BodyUse::Create => "create",
            BodyUse::Update => "update",
            BodyUse::Patch => "patch",
            BodyUse::Delete => "delete",
            BodyUse::DeleteCollection => "delete_collection",
        };
        let labels = [&*self.group, &*self.resource, verb];
        let sizes = self.body_bytes[used as usize].get_or_init(|| self.all.body_bytes.with_label_values(&labels));
        #[expect(clippy::cast_precision_loss, reason = "the bucket does not change by a byte")]
        sizes.observe(bytes as f64);
    }

    /// The metrics of a watch.
    pub(crate) fn watch(&self) -> WatchMetrics {
        let watch = self.watch.get_or_init(|| {
            let version = [&*self.group, &*self.version, &*self.resource];
            WatchMetrics {
                events: self.all.watch_events.with_label_values(&version),
                bytes: self.all.event_bytes.with_label_values(&version),
                initial: self.all.initial_events.with_label_values(&self.stored_as),
                ended: self.all.ended_watchers.with_label_values(&self.stored_as),
            }
        });
        watch.clone()
    }

    /// Counts a watch that has sent the initial objects.
    pub(crate) fn watch_list(&self, scope: &'static str, took: Duration) {
        let labels = [&*self.group, &*self.version, &*self.resource, scope];
        let seconds = self.all.watch_list_seconds.with_label_values(&labels);
        seconds.observe(took.as_secs_f64());
    }

    /// Counts a list answered from the cache, which read some objects and returned some of these.
    pub(crate) fn list(&self, read: usize, returned: usize) {
        let [lists, all_read, listed] = self.lists.get_or_init(|| {
            let [group, resource] = &self.stored_as;
            let labels = [&**group, &**resource, ""];
            [
                self.all.lists.with_label_values(&labels),
                self.all.read.with_label_values(&labels),
                self.all.listed.with_label_values(&self.stored_as),
            ]
        });
        lists.inc();
        all_read.inc_by(read as u64);
        listed.inc_by(returned as u64);
    }

    /// Counts a list whose objects were read back from the store.
    pub(crate) fn list_of_store(&self, read: usize, returned: usize) {
        let counts = [1, read as u64, read as u64, returned as u64];
        for (counters, count) in self.all.store_lists.iter().zip(counts) {
            counters.with_label_values(&self.stored_as).inc_by(count);
        }
    }

    /// Counts a read that waited until the cache was fresh.
    pub(crate) fn fresh_read(&self, took: Duration, is_fresh: bool) {
        let (seconds, fresh) = self.fresh.get_or_init(|| {
            let seconds = self.all.freshness_seconds.with_label_values(&self.stored_as);
            (seconds, self.fresh_reads("true"))
        });
        seconds.observe(took.as_secs_f64());
        match is_fresh {
            true => fresh.inc(),
            false => self.fresh_reads("false").inc(),
        }
    }

    /// The reads from the cache; none of them is sent to the store instead.
    fn fresh_reads(&self, success: &str) -> IntCounter {
        let [group, resource] = &self.stored_as;
        self.all
            .fresh_reads
            .with_label_values(&[group, &**resource, success, "false"])
    }

    /// Counts a write that the store has performed or refused.
    pub(crate) fn store(&self, used: StoreUse, took: Duration, refused: bool) {
        let operation = match used {
            StoreUse::Create => "create",
            StoreUse::Update => "update",
            StoreUse::Delete => "delete",
        };
        let store = self.store[used as usize].get_or_init(|| {
            let [group, resource] = &self.stored_as;
            let labels = [operation, group, resource];
            StoreMetrics {
                seconds: self.all.store_seconds.with_label_values(&labels),
                requests: self.all.store_requests.with_label_values(&labels),
                errors: self.all.store_errors.with_label_values(&labels),
            }
        });
        store.seconds.observe(took.as_secs_f64());
        store.requests.inc();
        if refused {
            store.errors.inc();
        }
    }
}

impl WatchMetrics {
    /// Counts an event.
    pub(crate) fn event(&self, bytes: usize) {
        self.events.inc();
        #[expect(clippy::cast_precision_loss, reason = "the bucket does not change by a byte")]
        self.bytes.observe(bytes as f64);
    }

    /// Counts the initial objects of a watch.
    pub(crate) fn initial(&self, objects: usize) {
        self.initial.inc_by(objects as u64);
    }

    /// Counts a watch that was terminated because its client was too slow.
    pub(crate) fn ended(&self) {
        self.ended.inc();
    }
}
