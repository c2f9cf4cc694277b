//! Metrics of connections through egress proxies.

use std::sync::Arc;
use std::time::Duration;

use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts};

use super::{Metrics, VALID};

/// kube-apiserver's buckets, in seconds.
const SECONDS: [f64; 6] = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];

/// Metrics of the connections that a server opens through proxies. They exist before those of the server, because the connection to
/// its store does.
#[derive(Debug)]
pub struct EgressMetrics {
    starts: IntCounterVec,
    failures: IntCounterVec,
    seconds: HistogramVec,
}

/// Metrics of the connections through one proxy.
#[derive(Clone, Debug)]
pub(crate) struct ProxyMetrics {
    all: Arc<EgressMetrics>,
    protocol: &'static str,
    transport: &'static str,
}

/// The step of opening a connection through a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialStage {
    /// The connection to the proxy.
    Connect,
    /// The proxy's connection to the destination.
    Proxy,
}

impl DialStage {
    fn label(self) -> &'static str {
        match self {
            DialStage::Connect => "connect",
            DialStage::Proxy => "proxy",
        }
    }
}

impl Default for EgressMetrics {
    fn default() -> Self {
        let counters =
            |name: &str, help: &str, labels: &[&str]| IntCounterVec::new(Opts::new(name, help), labels).expect(VALID);
        let seconds = HistogramOpts::new(
            "apiserver_egress_dialer_dial_duration_seconds",
            "Time to open a connection through a proxy, in seconds.",
        );
        Self {
            starts: counters(
                "apiserver_egress_dialer_dial_start_total",
                "Attempts to open a connection through a proxy.",
                &["protocol", "transport"],
            ),
            failures: counters(
                "apiserver_egress_dialer_dial_failure_count",
                "Connections through a proxy that could not be opened, by the stage that failed.",
                &["protocol", "transport", "stage"],
            ),
            seconds: HistogramVec::new(seconds.buckets(SECONDS.to_vec()), &["protocol", "transport"]).expect(VALID),
        }
    }
}

impl EgressMetrics {
    /// Shows the metrics among those of a server.
    pub fn show_in(&self, metrics: &Metrics) {
        metrics.register(self.starts.clone());
        metrics.register(self.failures.clone());
        metrics.register(self.seconds.clone());
    }

    /// Returns the metrics of a proxy that speaks `protocol` over `transport`.
    pub(crate) fn of_proxy(self: &Arc<Self>, protocol: &'static str, transport: &'static str) -> ProxyMetrics {
        let all = Arc::clone(self);
        ProxyMetrics {
            all,
            protocol,
            transport,
        }
    }
}

impl ProxyMetrics {
    /// Counts an attempt to open a connection.
    pub(crate) fn started(&self) {
        self.all
            .starts
            .with_label_values(&[self.protocol, self.transport])
            .inc();
    }

    /// Counts an attempt that failed.
    pub(crate) fn failed(&self, stage: DialStage) {
        let labels = [self.protocol, self.transport, stage.label()];
        self.all.failures.with_label_values(&labels).inc();
    }

    /// Records the time of an attempt that succeeded.
    pub(crate) fn dialed(&self, took: Duration) {
        let seconds = self.all.seconds.with_label_values(&[self.protocol, self.transport]);
        seconds.observe(took.as_secs_f64());
    }
}
