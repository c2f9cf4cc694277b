//! What is stored, counted when it is shown.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use planesmith_store::Storage;
use prometheus::{IntGauge, IntGaugeVec, Registry};

use super::{VALID, add, gauges};
use crate::chain::SharedTable;

/// Objects, watchers and bytes.
#[derive(Debug)]
pub(super) struct StorageMetrics {
    objects: IntGaugeVec,
    watchers: IntGaugeVec,
    bytes: IntGauge,
    storage: OnceLock<Storage>,
}

impl StorageMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let objects = gauges(
            "apiserver_storage_objects",
            "Stored objects, by resource.",
            &["resource"],
        );
        let watchers = gauges(
            "apiserver_registered_watchers",
            "Open watches, by resource.",
            &["group", "resource"],
        );
        let bytes = IntGauge::new("apiserver_storage_size_bytes", "Size of the store on disk, in bytes.");
        let metrics = Self {
            objects,
            watchers,
            bytes: bytes.expect(VALID),
            storage: OnceLock::new(),
        };
        add(registry, metrics.objects.clone());
        add(registry, metrics.watchers.clone());
        add(registry, metrics.bytes.clone());
        metrics
    }

    pub(super) fn set_storage(&self, storage: Storage) {
        // Set once; a second store of the same process would be counted by its own metrics.
        let _ = self.storage.set(storage);
    }

    /// Counts everything anew: resources may have come or gone.
    pub(super) fn refresh(&self, tables: &[SharedTable]) {
        let mut stored = BTreeMap::new();
        for table in tables {
            for handler in table.load().handlers() {
                if let Some(counts) = handler.stored() {
                    let facts = handler.facts();
                    // Versions of a resource share their objects.
                    stored.insert((facts.group.to_string(), facts.plural.to_string()), counts);
                }
            }
        }
        self.objects.reset();
        self.watchers.reset();
        for ((group, resource), counts) in stored {
            let name = if group.is_empty() {
                resource.clone()
            } else {
                format!("{resource}.{group}")
            };
            self.objects.with_label_values(&[&name]).set(number(counts.objects));
            self.watchers
                .with_label_values(&[&group, &resource])
                .set(number(counts.watchers));
        }
        if let Some(storage) = self.storage.get() {
            self.bytes
                .set(i64::try_from(storage.stats().disk_bytes).unwrap_or(i64::MAX));
        }
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
