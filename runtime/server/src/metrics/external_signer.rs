//! Metrics of an external signer of tokens.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use planesmith_machinery::clock::Clock;
use prometheus::{Gauge, HistogramVec, IntCounterVec};

use super::{Metrics, VALID, counters, histograms};

/// kube-apiserver's buckets, in seconds.
const SECONDS: [f64; 14] = [
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];

/// Metrics of an external signer of tokens of service accounts.
#[derive(Debug)]
pub struct ExternalSignerMetrics {
    read_at: Gauge,
    data_time: Gauge,
    fetches: IntCounterVec,
    signatures: IntCounterVec,
    seconds: HistogramVec,
    clock: Arc<dyn Clock>,
}

impl ExternalSignerMetrics {
    /// Registers the metrics.
    #[must_use]
    pub fn register(metrics: &Metrics) -> Arc<Self> {
        let registry = &metrics.registry;
        let gauge = |name, help| {
            let gauge = Gauge::new(name, help).expect(VALID);
            super::add(registry, gauge.clone());
            gauge
        };
        Arc::new(Self {
            read_at: gauge(
                "apiserver_externaljwt_fetch_keys_success_timestamp",
                "Time at which the keys of the external signer were read last, in seconds of Unix time.",
            ),
            data_time: gauge(
                "apiserver_externaljwt_fetch_keys_data_timestamp",
                "Time that the external signer reported for the keys that were read last, in seconds of Unix time.",
            ),
            fetches: counters(
                registry,
                "apiserver_externaljwt_fetch_keys_request_total",
                "Attempts to read the keys of the external signer, by result.",
                &["code"],
            ),
            signatures: counters(
                registry,
                "apiserver_externaljwt_sign_request_total",
                "Tokens requested from the external signer, by result.",
                &["code"],
            ),
            seconds: histograms(
                registry,
                "apiserver_externaljwt_request_duration_seconds",
                "Time of calls of the external signer, in seconds.",
                &SECONDS,
                &["method", "code"],
            ),
            clock: Arc::clone(&metrics.clock),
        })
    }

    /// Counts a call of `method` with the status `code`.
    pub fn called(&self, method: &str, code: &str, took: Duration) {
        let seconds = self.seconds.with_label_values(&[method, code]);
        seconds.observe(took.as_secs_f64());
    }

    /// Counts an attempt to read the keys.
    pub fn fetched(&self, code: &str) {
        self.fetches.with_label_values(&[code]).inc();
    }

    /// Records that keys were read, which the signer had from `data_time`, in seconds of Unix time.
    pub fn keys_of(&self, data_time: f64) {
        let now = self.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.read_at.set(now.as_secs_f64());
        self.data_time.set(data_time);
    }

    /// Counts an attempt to sign a token.
    pub fn signed(&self, code: &str) {
        self.signatures.with_label_values(&[code]).inc();
    }
}
