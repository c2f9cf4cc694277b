//! Counts what the providers do.

use std::sync::Arc;
use std::time::Duration;

use planesmith_encryption::Observer;
use planesmith_server::metrics::EncryptionMetrics;

/// Passes events to the metrics.
#[derive(Debug)]
pub(crate) struct EncryptionObserver {
    metrics: Arc<EncryptionMetrics>,
}

impl EncryptionObserver {
    pub(crate) fn new(metrics: &Arc<EncryptionMetrics>) -> Self {
        Self {
            metrics: Arc::clone(metrics),
        }
    }
}

impl Observer for EncryptionObserver {
    fn transformed(&self, operation: &'static str, prefix: &str, took: Duration, is_ok: bool) {
        self.metrics.transformed(operation, prefix, took, is_ok);
    }

    fn key_missed(&self) {
        self.metrics.key_missed();
    }

    fn plugin_called(&self, provider: &str, method: &'static str, code: &'static str, took: Duration) {
        self.metrics.plugin_called(provider, method, code, took);
    }

    fn key_used(&self, operation: &'static str, provider: &str, key_id_hash: &str) {
        self.metrics.key_used(operation, provider, key_id_hash);
    }

    fn key_reported(&self, provider: &str, key_id_hash: &str) {
        self.metrics.key_reported(provider, key_id_hash);
    }

    fn key_refused(&self, provider: &str, reason: &'static str) {
        self.metrics.key_refused(provider, reason);
    }
}
