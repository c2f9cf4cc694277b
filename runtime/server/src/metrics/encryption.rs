//! Metrics of encryption at rest.

use std::sync::Arc;
use std::time::Duration;

use planesmith_machinery::clock::Clock;
use prometheus::{Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, exponential_buckets};

use super::current_label::{hashed, seconds};
use super::{Metrics, VALID};

/// Metrics of encryption at rest. Those of its configuration are [`super::ConfigurationMetrics`].
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
    /// The label of this server.
    server: String,
    clock: Arc<dyn Clock>,
}

impl EncryptionMetrics {
    /// Registers the metrics of the server `name`.
    pub(super) fn register(metrics: &Metrics, name: &str) -> Arc<Self> {
        let storage = |rest: &str| format!("apiserver_storage_{rest}");
        let envelope = |rest: &str| format!("apiserver_envelope_encryption_{rest}");
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
                &[
                    "transformation_type",
                    "provider_name",
                    "key_id_hash",
                    "apiserver_id_hash",
                ],
            ),
            key_times: gauges(
                envelope("key_id_hash_last_timestamp_seconds"),
                "Time at which a key of a plugin was used last.",
                &[
                    "transformation_type",
                    "provider_name",
                    "key_id_hash",
                    "apiserver_id_hash",
                ],
            ),
            reported_times: gauges(
                envelope("key_id_hash_status_last_timestamp_seconds"),
                "Time at which a plugin reported its key last.",
                &["provider_name", "key_id_hash", "apiserver_id_hash"],
            ),
            refused_keys: counters(
                envelope("invalid_key_id_from_status_total"),
                "Invalid names of keys that plugins reported.",
                &["provider_name", "error"],
            ),
            server: hashed(name.as_bytes()),
            clock: Arc::clone(&metrics.clock),
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
        let labels = [operation, provider, key_id_hash, &self.server];
        self.keys.with_label_values(&labels).inc();
        self.key_times.with_label_values(&labels).set(seconds(&*self.clock));
    }

    /// Records the key that a plugin reported.
    pub fn key_reported(&self, provider: &str, key_id_hash: &str) {
        let labels = [provider, key_id_hash, &self.server];
        self.reported_times
            .with_label_values(&labels)
            .set(seconds(&*self.clock));
    }

    /// Counts an invalid name of a key.
    pub fn key_refused(&self, provider: &str, reason: &str) {
        self.refused_keys.with_label_values(&[provider, reason]).inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_of_a_key_is_counted_for_this_server() {
        let metrics = Metrics::default();
        let encryption = metrics.encryption("apiserver-a");
        encryption.key_used("to_storage", "plugin", "sha256:01");
        encryption.key_reported("plugin", "sha256:01");
        let text = prometheus::TextEncoder::new()
            .encode_to_string(&metrics.registry.gather())
            .unwrap();
        let server = format!(
            "{{apiserver_id_hash=\"{}\",key_id_hash=\"sha256:01\",",
            hashed(b"apiserver-a")
        );
        for name in [
            "key_id_hash_total",
            "key_id_hash_last_timestamp_seconds",
            "key_id_hash_status_last_timestamp_seconds",
        ] {
            assert!(
                text.contains(&format!("apiserver_envelope_encryption_{name}{server}")),
                "{text}"
            );
        }
    }
}
