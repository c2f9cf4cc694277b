//! Metrics of encryption at rest.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use planesmith_machinery::hex;
use prometheus::{
    Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, exponential_buckets,
};
use ring::digest::{SHA256, digest};

use super::{Metrics, VALID};

/// Metrics of encryption at rest, and of its configuration.
#[derive(Debug)]
pub struct EncryptionMetrics {
    operations: IntCounterVec,
    durations: HistogramVec,
    misses: IntCounter,
    plugin_latency: HistogramVec,
    keys: IntCounterVec,
    key_times: GaugeVec,
    reported_times: GaugeVec,
    refused_keys: IntCounterVec,
    reloads: IntCounterVec,
    reload_times: GaugeVec,
    configurations: IntGaugeVec,
    /// The label of the configuration in use.
    current: Mutex<Option<String>>,
}

impl EncryptionMetrics {
    /// Registers the metrics.
    pub(super) fn register(metrics: &Metrics) -> Arc<Self> {
        let storage = |rest: &str| format!("apiserver_storage_{rest}");
        let envelope = |rest: &str| format!("apiserver_envelope_encryption_{rest}");
        let config = |rest: &str| format!("apiserver_encryption_config_controller_{rest}");
        let counters =
            |name: String, help: &str, labels: &[&str]| IntCounterVec::new(Opts::new(name, help), labels).expect(VALID);
        let gauges =
            |name: String, help: &str, labels: &[&str]| GaugeVec::new(Opts::new(name, help), labels).expect(VALID);
        let histograms = |name: String, help: &str, start: f64, count: usize, labels: &[&str]| {
            let buckets = exponential_buckets(start, 2.0, count).expect(VALID);
            HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets), labels).expect(VALID)
        };
        let misses = IntCounter::new(
            storage("envelope_transformation_cache_misses_total"),
            "Keys that were not cached and were decrypted by a plugin.",
        );
        let configurations = IntGaugeVec::new(
            Opts::new(
                config("last_config_info"),
                "The digest of the encryption configuration in use.",
            ),
            &["hash"],
        );
        let all = Self {
            operations: counters(
                storage("transformation_operations_total"),
                "Values that were encrypted or decrypted, by the beginning of the stored value.",
                &["transformation_type", "transformer_prefix", "status"],
            ),
            durations: histograms(
                storage("transformation_duration_seconds"),
                "Time to encrypt or decrypt a value, in seconds.",
                5e-6,
                25,
                &["transformation_type", "transformer_prefix"],
            ),
            misses: misses.expect(VALID),
            plugin_latency: histograms(
                envelope("kms_operations_latency_seconds"),
                "Time of requests to plugins that encrypt keys, in seconds.",
                1e-4,
                20,
                &["provider_name", "method_name", "grpc_status_code"],
            ),
            keys: counters(
                envelope("key_id_hash_total"),
                "Values that were encrypted or decrypted with a key of a plugin.",
                &["transformation_type", "provider_name", "key_id_hash"],
            ),
            key_times: gauges(
                envelope("key_id_hash_last_timestamp_seconds"),
                "Time at which a key of a plugin was used last.",
                &["transformation_type", "provider_name", "key_id_hash"],
            ),
            reported_times: gauges(
                envelope("key_id_hash_status_last_timestamp_seconds"),
                "Time at which a plugin reported its key last.",
                &["provider_name", "key_id_hash"],
            ),
            refused_keys: counters(
                envelope("invalid_key_id_from_status_total"),
                "Invalid names of keys that plugins reported.",
                &["provider_name", "error"],
            ),
            reloads: counters(
                config("automatic_reloads_total"),
                "Reloads of the encryption configuration, by result.",
                &["status"],
            ),
            reload_times: gauges(
                config("automatic_reload_last_timestamp_seconds"),
                "Time of the last reload of the encryption configuration, by result.",
                &["status"],
            ),
            configurations: configurations.expect(VALID),
            current: Mutex::default(),
        };
        // Of plugins of version 1, which are refused: it stays at 0.
        let fill = Gauge::new(
            envelope("dek_cache_fill_percent"),
            "Share of the cache of keys that is used, for plugins of version 1.",
        );
        metrics.register(fill.expect(VALID));
        metrics.register(all.operations.clone());
        metrics.register(all.durations.clone());
        metrics.register(all.misses.clone());
        metrics.register(all.plugin_latency.clone());
        metrics.register(all.keys.clone());
        metrics.register(all.key_times.clone());
        metrics.register(all.reported_times.clone());
        metrics.register(all.refused_keys.clone());
        metrics.register(all.reloads.clone());
        metrics.register(all.reload_times.clone());
        metrics.register(all.configurations.clone());
        Arc::new(all)
    }

    /// Counts a value. `operation` is `to_storage` or `from_storage`, `prefix` the beginning of the stored value.
    pub fn transformed(&self, operation: &str, prefix: &str, took: Duration, is_ok: bool) {
        let status = if is_ok { "OK" } else { "Unknown" };
        self.operations.with_label_values(&[operation, prefix, status]).inc();
        if is_ok {
            let duration = self.durations.with_label_values(&[operation, prefix]);
            duration.observe(took.as_secs_f64());
        }
    }

    /// Counts a key that a plugin had to decrypt.
    pub fn key_missed(&self) {
        self.misses.inc();
    }

    /// Counts a request to a plugin.
    pub fn plugin_called(&self, provider: &str, method: &str, code: &str, took: Duration) {
        let latency = self.plugin_latency.with_label_values(&[provider, method, code]);
        latency.observe(took.as_secs_f64());
    }

    /// Counts a value that was transformed with a key of a plugin.
    pub fn key_used(&self, operation: &str, provider: &str, key_id_hash: &str) {
        let labels = [operation, provider, key_id_hash];
        self.keys.with_label_values(&labels).inc();
        self.key_times.with_label_values(&labels).set(now());
    }

    /// Records the key that a plugin reported.
    pub fn key_reported(&self, provider: &str, key_id_hash: &str) {
        self.reported_times
            .with_label_values(&[provider, key_id_hash])
            .set(now());
    }

    /// Counts an invalid name of a key.
    pub fn key_refused(&self, provider: &str, reason: &str) {
        self.refused_keys.with_label_values(&[provider, reason]).inc();
    }

    /// Reports the configuration that is used from the start.
    pub fn loaded(&self, content: &[u8]) {
        let label = format!("sha256:{}", hex::encode(digest(&SHA256, content).as_ref()));
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = current.replace(label.clone()).filter(|old| *old != label) {
            // A series that is removed already is what is wanted.
            let _ = self.configurations.remove_label_values(&[&old]);
        }
        self.configurations.with_label_values(&[&label]).set(1);
    }

    /// Counts a reload of the configuration. `content` is in use from now on; `None` after a failure.
    pub fn reloaded(&self, content: Option<&[u8]>) {
        let labels = [if content.is_some() { "success" } else { "failure" }];
        self.reloads.with_label_values(&labels).inc();
        self.reload_times.with_label_values(&labels).set(now());
        if let Some(content) = content {
            self.loaded(content);
        }
    }
}

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}
