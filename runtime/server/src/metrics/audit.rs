//! Metrics of the audit.

use std::sync::Arc;

use prometheus::{IntCounter, IntCounterVec, Registry};

use super::{add, counters};
use crate::audit::AuditMeter;

/// Counts of audit events, and of those that were lost.
#[derive(Debug)]
pub(super) struct AuditMetrics {
    events: IntCounter,
    rejected: IntCounter,
    lost: IntCounterVec,
}

impl AuditMetrics {
    pub(super) fn new(registry: &Registry) -> Arc<Self> {
        let counter = |name, help| {
            let counter = IntCounter::new(name, help).expect("the name is valid");
            add(registry, counter.clone());
            counter
        };
        Arc::new(Self {
            events: counter(
                "apiserver_audit_event_total",
                "Audit events that were passed to the sinks.",
            ),
            rejected: counter(
                "apiserver_audit_requests_rejected_total",
                "Requests that were refused because their audit event could not be recorded.",
            ),
            lost: counters(
                registry,
                "apiserver_audit_error_total",
                "Audit events that a sink has lost.",
                &["plugin"],
            ),
        })
    }
}

impl AuditMeter for AuditMetrics {
    fn recorded(&self, events: u64) {
        self.events.inc_by(events);
    }

    fn rejected(&self) {
        self.rejected.inc();
    }

    fn lost(&self, plugin: &'static str, events: u64) {
        self.lost.with_label_values(&[plugin]).inc_by(events);
    }
}
