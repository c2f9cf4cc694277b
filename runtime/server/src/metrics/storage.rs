//! What is stored, counted when it is shown.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use planesmith_store::Storage;
use prometheus::{IntGaugeVec, Registry};

use super::gauges;
use crate::chain::SharedTable;

/// Objects and bytes.
#[derive(Debug)]
pub(super) struct StorageMetrics {
    /// Under the name that is on its way out, with group and resource in one.
    named_objects: IntGaugeVec,
    objects: IntGaugeVec,
    bytes: IntGaugeVec,
    storage: OnceLock<Storage>,
}

impl StorageMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            named_objects: gauges(
                registry,
                "apiserver_storage_objects",
                "Stored objects; use apiserver_resource_objects instead.",
                &["resource"],
            ),
            objects: gauges(
                registry,
                "apiserver_resource_objects",
                "Stored objects.",
                &["group", "resource"],
            ),
            bytes: gauges(
                registry,
                "apiserver_storage_size_bytes",
                "Size of the store on disk, in bytes.",
                &["storage_cluster_id"],
            ),
            storage: OnceLock::new(),
        }
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
        self.named_objects.reset();
        for ((group, resource), counts) in stored {
            let name = if group.is_empty() {
                resource.clone()
            } else {
                format!("{resource}.{group}")
            };
            let objects = number(counts.objects);
            self.named_objects.with_label_values(&[&name]).set(objects);
            self.objects.with_label_values(&[&group, &resource]).set(objects);
        }
        if let Some(storage) = self.storage.get() {
            let bytes = i64::try_from(storage.stats().disk_bytes).unwrap_or(i64::MAX);
            self.bytes.with_label_values(&["etcd-0"]).set(bytes);
        }
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
