//! Queues of the server's own controllers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

use super::{VALID, add, counters, gauges, histograms};

/// kube-apiserver's buckets, in seconds: from a microsecond on, each ten times the one before.
fn seconds() -> Vec<f64> {
    (-6..4).map(|power| 10_f64.powi(power)).collect()
}

/// The metrics of all queues.
#[derive(Debug)]
pub(super) struct QueueMetrics {
    added: IntCounterVec,
    depth: IntGaugeVec,
    waited: HistogramVec,
    worked: HistogramVec,
    retried: IntCounterVec,
    unfinished: GaugeVec,
    longest: GaugeVec,
    queues: Mutex<BTreeMap<&'static str, Arc<QueueMeter>>>,
}

/// The metrics of one queue.
#[derive(Debug)]
pub struct QueueMeter {
    added: IntCounter,
    depth: IntGauge,
    waited: Histogram,
    worked: Histogram,
    retried: IntCounter,
    unfinished: Gauge,
    longest: Gauge,
    begun: Mutex<StartTimes>,
}

/// Start times of the running work, by ticket; the oldest is first.
#[derive(Debug, Default)]
struct StartTimes {
    next: u64,
    times: BTreeMap<u64, Instant>,
}

/// Identifies running work; to be passed to [`QueueMeter::finished`].
#[derive(Debug)]
pub struct Ticket(u64);

impl QueueMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let name = &["name"];
        let seconds = seconds();
        let gauge = |metric: &str, help: &str| {
            let gauges = GaugeVec::new(Opts::new(metric, help), name).expect(VALID);
            add(registry, gauges.clone());
            gauges
        };
        Self {
            added: counters(
                registry,
                "workqueue_adds_total",
                "Keys that were put into a queue.",
                name,
            ),
            depth: gauges(registry, "workqueue_depth", "Keys that wait in a queue.", name),
            waited: histograms(
                registry,
                "workqueue_queue_duration_seconds",
                "Time that keys wait in a queue, in seconds.",
                &seconds,
                name,
            ),
            worked: histograms(
                registry,
                "workqueue_work_duration_seconds",
                "Time that work on a key of a queue takes, in seconds.",
                &seconds,
                name,
            ),
            retried: counters(
                registry,
                "workqueue_retries_total",
                "Keys that are retried because the work on them failed.",
                name,
            ),
            unfinished: gauge(
                "workqueue_unfinished_work_seconds",
                "Time that work under way has taken so far, all of it together, in seconds.",
            ),
            longest: gauge(
                "workqueue_longest_running_processor_seconds",
                "Time that the oldest work under way has taken so far, in seconds.",
            ),
            queues: Mutex::default(),
        }
    }

    /// Returns the meter of the queue `name`.
    pub(super) fn queue(&self, name: &'static str) -> Arc<QueueMeter> {
        let label = &[name];
        let new = || {
            Arc::new(QueueMeter {
                added: self.added.with_label_values(label),
                depth: self.depth.with_label_values(label),
                waited: self.waited.with_label_values(label),
                worked: self.worked.with_label_values(label),
                retried: self.retried.with_label_values(label),
                unfinished: self.unfinished.with_label_values(label),
                longest: self.longest.with_label_values(label),
                begun: Mutex::default(),
            })
        };
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(queues.entry(name).or_insert_with(new))
    }

    /// Updates the durations of running work at `now`.
    pub(super) fn refresh(&self, now: Instant) {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        for queue in queues.values() {
            queue.refresh(now);
        }
    }
}

impl QueueMeter {
    /// Counts a key that was added to the queue.
    pub fn added(&self) {
        self.added.inc();
        self.depth.inc();
    }

    /// Counts a key that `waited` and whose work starts at `now`.
    pub fn taken(&self, waited: Duration, now: Instant) -> Ticket {
        self.depth.dec();
        self.waited.observe(waited.as_secs_f64());
        let mut begun = self.begun();
        let ticket = begun.next;
        begun.next += 1;
        begun.times.insert(ticket, now);
        Ticket(ticket)
    }

    /// Counts work that ends at `now`.
    pub fn finished(&self, ticket: &Ticket, now: Instant) {
        let since = self.begun().times.remove(&ticket.0);
        if let Some(since) = since {
            self.worked.observe(now.saturating_duration_since(since).as_secs_f64());
        }
    }

    /// Counts work that is repeated after a failure.
    pub fn retried(&self) {
        self.retried.inc();
    }

    fn refresh(&self, now: Instant) {
        let begun = self.begun();
        let so_far = |since: &Instant| now.saturating_duration_since(*since).as_secs_f64();
        self.unfinished.set(begun.times.values().map(so_far).sum());
        self.longest.set(begun.times.values().next().map_or(0.0, so_far));
    }

    fn begun(&self) -> MutexGuard<'_, StartTimes> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use prometheus::TextEncoder;

    use super::*;

    #[test]
    fn a_queue_is_shown_under_the_names_of_kube_apiserver() {
        let registry = Registry::new();
        let metrics = QueueMetrics::new(&registry);
        let queue = metrics.queue("namespace");
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..3 {
            queue.added();
        }
        let first = queue.taken(Duration::from_secs(2), at(0));
        let _second = metrics.queue("namespace").taken(Duration::ZERO, at(3));
        metrics.refresh(at(5));
        let shown = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        for line in [
            "workqueue_adds_total{name=\"namespace\"} 3",
            "workqueue_depth{name=\"namespace\"} 1",
            "workqueue_queue_duration_seconds_bucket{name=\"namespace\",le=\"0.000001\"} 1",
            "workqueue_queue_duration_seconds_sum{name=\"namespace\"} 2",
            "workqueue_unfinished_work_seconds{name=\"namespace\"} 7",
            "workqueue_longest_running_processor_seconds{name=\"namespace\"} 5",
            "workqueue_retries_total{name=\"namespace\"} 0",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line} is not in\n{shown}");
        }
        queue.finished(&first, at(6));
        queue.retried();
        metrics.refresh(at(6));
        assert_eq!((queue.unfinished.get(), queue.longest.get()), (3.0, 3.0));
        assert_eq!((queue.worked.get_sample_sum(), queue.retried.get()), (6.0, 1));
    }
}
