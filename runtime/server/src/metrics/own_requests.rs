//! Metrics of the requests that the server sends to itself.

use std::time::Duration;

use http::{Method, StatusCode};
use prometheus::{HistogramVec, IntCounterVec, Registry};

use super::{counters, histograms};

/// kube-apiserver's buckets for times, in seconds.
const SECONDS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// kube-apiserver's buckets for bodies, in bytes.
const BYTES: [f64; 11] = [
    64.0,
    256.0,
    512.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
];

/// The label of the server itself.
const HOST: &str = "localhost";

/// Metrics of the requests that the server sends to itself.
#[derive(Debug)]
pub struct OwnRequestMetrics {
    requests: IntCounterVec,
    seconds: HistogramVec,
    sent_bytes: HistogramVec,
    received_bytes: HistogramVec,
}

impl OwnRequestMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let by_verb = |name, help, buckets: &[f64]| histograms(registry, name, help, buckets, &["verb", "host"]);
        Self {
            requests: counters(
                registry,
                "rest_client_requests_total",
                "Requests of the server to itself, by status code and method.",
                &["code", "method", "host"],
            ),
            seconds: by_verb(
                "rest_client_request_duration_seconds",
                "Time until a request of the server to itself was answered, in seconds.",
                &SECONDS,
            ),
            sent_bytes: by_verb(
                "rest_client_request_size_bytes",
                "Size of the bodies of requests of the server to itself, in bytes.",
                &BYTES,
            ),
            received_bytes: by_verb(
                "rest_client_response_size_bytes",
                "Size of the bodies of answers to the server itself, in bytes; those of streams are not counted.",
                &BYTES,
            ),
        }
    }

    /// Counts a request with a body of `bytes` that was answered.
    pub fn answered(&self, method: &Method, code: StatusCode, took: Duration, bytes: usize) {
        self.requests
            .with_label_values(&[code.as_str(), method.as_str(), HOST])
            .inc();
        let labels = [method.as_str(), HOST];
        self.seconds.with_label_values(&labels).observe(took.as_secs_f64());
        observe_bytes(&self.sent_bytes, &labels, bytes);
    }

    /// Counts the body of an answer.
    pub fn received(&self, method: &Method, bytes: usize) {
        observe_bytes(&self.received_bytes, &[method.as_str(), HOST], bytes);
    }
}

fn observe_bytes(sizes: &HistogramVec, labels: &[&str; 2], bytes: usize) {
    #[expect(clippy::cast_precision_loss, reason = "the bucket does not change by a byte")]
    sizes.with_label_values(labels).observe(bytes as f64);
}
