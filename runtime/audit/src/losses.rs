//! Counts and logs the events that a sink loses.

use std::sync::Arc;

use planesmith_server::audit::AuditMeter;

/// The losses of one sink.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    sink: &'static str,
    meter: Arc<dyn AuditMeter>,
}

impl Losses {
    /// Counts losses in `meter` under the name `sink`.
    pub(crate) fn new(sink: &'static str, meter: &Arc<dyn AuditMeter>) -> Self {
        let meter = Arc::clone(meter);
        Self { sink, meter }
    }

    /// Counts and logs `events` that are lost.
    pub(crate) fn add(&self, events: usize, why: &str) {
        self.count(events);
        self.log(events, why);
    }

    /// Counts `events` that are lost.
    pub(crate) fn count(&self, events: usize) {
        self.meter.lost(self.sink, events as u64);
    }

    /// Logs `events` that are lost.
    pub(crate) fn log(&self, events: usize, why: &str) {
        tracing::warn!(sink = self.sink, why, events, "audit events are lost");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Counts lost events.
    #[derive(Debug, Default)]
    pub(crate) struct Meter(pub(crate) AtomicU64);

    impl AuditMeter for Meter {
        fn recorded(&self, _: u64) {}

        fn rejected(&self) {}

        fn lost(&self, _: &'static str, events: u64) {
            self.0.fetch_add(events, Ordering::Relaxed);
        }
    }
}
