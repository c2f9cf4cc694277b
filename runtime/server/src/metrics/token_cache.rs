//! Metrics of the cache of valid tokens.

use std::sync::Arc;
use std::time::Duration;

use planesmith_access::authentication::TokenCacheObserver;
use prometheus::{DEFAULT_BUCKETS, Histogram, IntCounter, IntGauge, Registry};

use super::{counters, gauges, histograms};

/// The metrics of the cache of valid tokens.
#[derive(Debug)]
pub(super) struct TokenCacheMetrics {
    /// Counts and durations of misses, then of hits.
    requests: [(IntCounter, Histogram); 2],
    looked_at: [IntCounter; 2],
    /// Requests that wait for another server: for the answer to an equal question, and for that to their own.
    waiting: [IntGauge; 2],
}

impl TokenCacheMetrics {
    pub(super) fn new(registry: &Registry) -> Arc<Self> {
        let requests = counters(
            registry,
            "authentication_token_cache_request_total",
            "Lookups in the token cache, by hit or miss.",
            &["status"],
        );
        let seconds = histograms(
            registry,
            "authentication_token_cache_request_duration_seconds",
            "Time to authenticate a token, in seconds.",
            DEFAULT_BUCKETS,
            &["status"],
        );
        let fetches = counters(
            registry,
            "authentication_token_cache_fetch_total",
            "Tokens that were verified because the cache did not have them, by result.",
            &["status"],
        );
        let active = gauges(
            registry,
            "authentication_token_cache_active_fetch_count",
            "Tokens that another server verifies now: in flight, or blocked by the same token in flight.",
            &["status"],
        );
        Arc::new(Self {
            requests: ["miss", "hit"].map(|status| {
                let labels = [status];
                (requests.with_label_values(&labels), seconds.with_label_values(&labels))
            }),
            looked_at: ["error", "ok"].map(|status| fetches.with_label_values(&[status])),
            waiting: ["blocked", "in_flight"].map(|status| active.with_label_values(&[status])),
        })
    }
}

impl TokenCacheObserver for TokenCacheMetrics {
    fn requested(&self, hit: bool, took: Duration) {
        let (count, seconds) = &self.requests[usize::from(hit)];
        count.inc();
        seconds.observe(took.as_secs_f64());
    }

    fn verified(&self, valid: bool) {
        self.looked_at[usize::from(valid)].inc();
    }

    fn waiting(&self, leads: bool, change: i64) {
        self.waiting[usize::from(leads)].add(change);
    }
}
