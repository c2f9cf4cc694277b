//! Metrics of stored objects, counted when they are rendered.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use planesmith_store::{AlarmKind, Storage};
use prometheus::{IntCounterVec, IntGaugeVec, Registry};

use super::{StoredCounts, counters, gauges};

/// The labels of a resource.
const RESOURCE: [&str; 2] = ["group", "resource"];

/// Metrics of objects, their bytes and changes.
#[derive(Debug)]
pub(super) struct StorageMetrics {
    /// The metric under its deprecated name, with group and resource in one label.
    named_objects: IntGaugeVec,
    objects: IntGaugeVec,
    object_bytes: IntGaugeVec,
    /// The same number under three names: changes that the store reports, that the cache receives and that it
    /// dispatches to watches.
    changes: [IntCounterVec; 3],
    initializations: IntCounterVec,
    retained_changes: IntGaugeVec,
    revision: IntGaugeVec,
    bytes: IntGaugeVec,
    alarms: IntGaugeVec,
    storage: OnceLock<Storage>,
}

impl StorageMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let gauges = |name, help, labels: &[&str]| gauges(registry, name, help, labels);
        let changes = |name, help| counters(registry, name, help, &RESOURCE);
        Self {
            named_objects: gauges(
                "apiserver_storage_objects",
                "Stored objects; use apiserver_resource_objects instead.",
                &["resource"],
            ),
            objects: gauges("apiserver_resource_objects", "Stored objects.", &RESOURCE),
            object_bytes: gauges(
                "apiserver_resource_size_estimate_bytes",
                "Size of the stored objects, in bytes.",
                &RESOURCE,
            ),
            changes: [
                changes(
                    "apiserver_storage_events_received_total",
                    "Changes that the store reported.",
                ),
                changes(
                    "apiserver_watch_cache_events_received_total",
                    "Changes that the watch cache received.",
                ),
                changes(
                    "apiserver_watch_cache_events_dispatched_total",
                    "Changes that the watch cache dispatched to watches.",
                ),
            ],
            initializations: counters(
                registry,
                "apiserver_watch_cache_initializations_total",
                "How often the watch cache was filled: once, when the server started or the resource was defined.",
                &RESOURCE,
            ),
            retained_changes: gauges(
                "watch_cache_capacity",
                "Changes that the watch cache keeps for watches to begin at.",
                &RESOURCE,
            ),
            revision: gauges(
                "apiserver_watch_cache_resource_version",
                "Revision of the newest change in the watch cache, its last 15 digits.",
                &RESOURCE,
            ),
            bytes: gauges(
                "apiserver_storage_size_bytes",
                "Size of the store on disk, in bytes.",
                &["storage_cluster_id"],
            ),
            alarms: gauges(
                "planesmith_storage_alarm",
                "1 while the store has an alarm of this kind, otherwise 0. /readyz?verbose tells the reason.",
                &["kind"],
            ),
            storage: OnceLock::new(),
        }
    }

    pub(super) fn set_storage(&self, storage: Storage) {
        // Set once; a second store of the same process would have metrics of its own.
        let _ = self.storage.set(storage);
    }

    /// Counts everything anew: resources may have been added or removed.
    pub(super) fn refresh(&self, stored: &[StoredCounts]) {
        let gauges = [
            &self.objects,
            &self.object_bytes,
            &self.retained_changes,
            &self.revision,
        ];
        gauges.iter().for_each(|gauges| gauges.reset());
        self.changes.iter().for_each(IntCounterVec::reset);
        self.initializations.reset();
        self.named_objects.reset();
        for ((group, resource), counts) in by_resource(stored) {
            let name = match group {
                "" => resource.to_owned(),
                group => format!("{resource}.{group}"),
            };
            self.named_objects
                .with_label_values(&[&name])
                .set(number(counts.objects as u64));
            let numbers = [
                counts.objects as u64,
                counts.bytes as u64,
                counts.retained_changes as u64,
                counts.revision % 1_000_000_000_000_000,
            ];
            for (gauges, count) in gauges.iter().zip(numbers) {
                gauges.with_label_values(&[group, resource]).set(number(count));
            }
            self.initializations.with_label_values(&[group, resource]).inc();
            for counters in &self.changes {
                counters.with_label_values(&[group, resource]).inc_by(counts.changes);
            }
        }
        if let Some(storage) = self.storage.get() {
            let bytes = number(storage.stats().disk_bytes);
            self.bytes.with_label_values(&["etcd-0"]).set(bytes);
            let raised = storage.alarms();
            for kind in AlarmKind::ALL {
                let is_raised = raised.iter().any(|alarm| alarm.kind == kind);
                self.alarms.with_label_values(&[kind.name()]).set(i64::from(is_raised));
            }
        }
    }
}

/// The counts by the group and the name that the objects are stored under: versions, and other groups that serve the
/// resource too, share the objects.
fn by_resource(stored: &[StoredCounts]) -> BTreeMap<(&str, &str), &StoredCounts> {
    let stored = stored.iter();
    stored
        .map(|counts| ((&*counts.group, &*counts.resource), counts))
        .collect()
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
