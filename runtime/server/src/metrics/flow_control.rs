//! Metrics of flow control.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus::core::{Collector, Desc};
use prometheus::proto::{Bucket, Histogram as HistogramProto, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

use super::flow_readings::{Distribution, FlowReadings, LevelReading};
use super::rejection_reason::RejectionReason;
use super::{VALID, add, counters, gauges, histograms};

/// kube-apiserver's buckets, in seconds.
const SECONDS: [f64; 12] = [0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0];
/// kube-apiserver's buckets of the lengths of queues.
const LENGTHS: [f64; 8] = [0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
/// kube-apiserver's buckets of numbers of watches.
const WATCHES: [f64; 6] = [0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0];
/// kube-apiserver's buckets of numbers of seats.
const SEATS: [f64; 4] = [1.0, 2.0, 4.0, 10.0];

/// The labels of a series: those of most metrics of flow control.
const FLOW: [&str; 2] = ["priority_level", "flow_schema"];
const LEVEL: [&str; 1] = ["priority_level"];

const EXECUTING_SEATS: &str = "Seats of the executing requests.";

/// Metrics of flow control.
#[derive(Debug)]
pub struct FlowControlMetrics {
    dispatched: IntCounterVec,
    rejected: IntCounterVec,
    queued: IntGaugeVec,
    queue_length: HistogramVec,
    executing: IntGaugeVec,
    executing_seats: IntGaugeVec,
    not_accommodated: IntCounterVec,
    waited: HistogramVec,
    executed: HistogramVec,
    estimated_seats: HistogramVec,
    watches: HistogramVec,
    levels: LevelGauges,
    distributions: Distributions,
    /// Levels that had series in the last rendering.
    rendered: Mutex<Vec<String>>,
    series: Mutex<HashMap<(String, String), Arc<FlowSeries>>>,
}

/// Gauges of levels, set when metrics are rendered.
#[derive(Debug)]
struct LevelGauges {
    fair_fraction: Gauge,
    seats: [GaugeVec; 6],
    demand: [GaugeVec; 4],
    progress: [GaugeVec; 3],
    next_starts: GaugeVec,
    discounted_starts: GaugeVec,
}

/// The series of one flow schema and level. Counting takes no lock.
#[derive(Debug)]
pub struct FlowSeries {
    dispatched: IntCounter,
    /// By [`RejectionReason`].
    rejected: [IntCounter; 4],
    queued: IntGauge,
    queue_length: Histogram,
    executing: IntGauge,
    executing_seats: IntGauge,
    not_accommodated: IntCounter,
    waited: Histogram,
    waited_in_vain: Histogram,
    executed: Histogram,
    watches_begun: Histogram,
    estimated_seats: Histogram,
    watches: Histogram,
}

impl FlowControlMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let name = |name: &str| format!("apiserver_flowcontrol_{name}");
        let rejected = ["priority_level", "flow_schema", "reason"];
        let timed = |metric: &str, help: &str, buckets: &[f64], labels: &[&str]| {
            histograms(registry, &name(metric), help, buckets, labels)
        };
        let gauge = |metric: &str, help: &str| gauges(registry, &name(metric), help, &FLOW);
        let distributions = Distributions::default();
        add(registry, distributions.clone());
        let executing_seats = gauge("current_executing_seats", EXECUTING_SEATS);
        let in_use = name("request_concurrency_in_use");
        add(registry, Alias::new(executing_seats.clone(), in_use, EXECUTING_SEATS));
        Self {
            dispatched: counters(
                registry,
                &name("dispatched_requests_total"),
                "Requests that were given seats.",
                &FLOW,
            ),
            rejected: counters(
                registry,
                &name("rejected_requests_total"),
                "Requests that were rejected, by the reason.",
                &rejected,
            ),
            queued: gauge("current_inqueue_requests", "Requests that wait in queues."),
            queue_length: timed(
                "request_queue_length_after_enqueue",
                "Length of the queue, as each request sees it that waits in it.",
                &LENGTHS,
                &FLOW,
            ),
            executing: gauge(
                "current_executing_requests",
                "Requests that execute; watches until they have started.",
            ),
            executing_seats,
            not_accommodated: counters(
                registry,
                &name("request_dispatch_no_accommodation_total"),
                "Times that the next request did not fit into the free seats.",
                &FLOW,
            ),
            waited: timed(
                "request_wait_duration_seconds",
                "Time that requests wait in queues, in seconds.",
                &SECONDS,
                &["priority_level", "flow_schema", "execute"],
            ),
            executed: timed(
                "request_execution_seconds",
                "Time that requests execute, in seconds; watches until they have started.",
                &SECONDS,
                &["priority_level", "flow_schema", "type"],
            ),
            estimated_seats: timed("work_estimated_seats", "Estimated seats of requests.", &SEATS, &FLOW),
            watches: timed(
                "watch_count_samples",
                "Number of watches that receive the change of a writing request.",
                &WATCHES,
                &FLOW,
            ),
            levels: LevelGauges::new(registry),
            distributions,
            rendered: Mutex::default(),
            series: Mutex::default(),
        }
    }

    /// The series of a flow schema and its level.
    #[must_use]
    pub fn series(&self, level: &str, schema: &str) -> Arc<FlowSeries> {
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (level.to_owned(), schema.to_owned());
        let new = || Arc::new(self.new_series(level, schema));
        Arc::clone(series.entry(key).or_insert_with(new))
    }

    /// Ends the series of flow schemas that are not among `current`, as pairs of level and schema.
    pub fn keep_series(&self, current: &[(&str, &str)]) {
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        series.retain(|(level, schema), _| {
            let stays = current.contains(&(level.as_str(), schema.as_str()));
            if !stays {
                self.forget(level, schema);
            }
            stays
        });
    }

    fn new_series(&self, level: &str, schema: &str) -> FlowSeries {
        let flow = [level, schema];
        let with = |third| [level, schema, third];
        FlowSeries {
            dispatched: self.dispatched.with_label_values(&flow),
            rejected: RejectionReason::ALL.map(|reason| self.rejected.with_label_values(&with(reason.as_str()))),
            queued: self.queued.with_label_values(&flow),
            queue_length: self.queue_length.with_label_values(&flow),
            executing: self.executing.with_label_values(&flow),
            executing_seats: self.executing_seats.with_label_values(&flow),
            not_accommodated: self.not_accommodated.with_label_values(&flow),
            waited: self.waited.with_label_values(&with("true")),
            waited_in_vain: self.waited.with_label_values(&with("false")),
            executed: self.executed.with_label_values(&with("regular")),
            watches_begun: self.executed.with_label_values(&with("watch")),
            estimated_seats: self.estimated_seats.with_label_values(&flow),
            watches: self.watches.with_label_values(&flow),
        }
    }

    fn forget(&self, level: &str, schema: &str) {
        let flow = [level, schema];
        // Series that nothing was counted in may be missing.
        for counter in [&self.dispatched, &self.not_accommodated] {
            let _ = counter.remove_label_values(&flow);
        }
        for gauge in [&self.queued, &self.executing, &self.executing_seats] {
            let _ = gauge.remove_label_values(&flow);
        }
        for histogram in [&self.queue_length, &self.estimated_seats, &self.watches] {
            let _ = histogram.remove_label_values(&flow);
        }
        for reason in RejectionReason::ALL {
            let _ = self.rejected.remove_label_values(&[level, schema, reason.as_str()]);
        }
        for execute in ["true", "false"] {
            let _ = self.waited.remove_label_values(&[level, schema, execute]);
        }
        for sort in ["regular", "watch"] {
            let _ = self.executed.remove_label_values(&[level, schema, sort]);
        }
    }

    /// Sets the metrics of levels.
    pub(super) fn show(&self, readings: &FlowReadings) {
        let mut rendered = self.rendered.lock().unwrap_or_else(PoisonError::into_inner);
        for gone in rendered
            .iter()
            .filter(|name| readings.levels.iter().all(|level| level.name != **name))
        {
            self.levels.forget(gone);
        }
        *rendered = readings.levels.iter().map(|level| level.name.clone()).collect();
        self.levels.fair_fraction.set(readings.fair_fraction);
        for level in &readings.levels {
            self.levels.show(level);
        }
        self.distributions.set(readings);
    }
}

impl LevelGauges {
    fn new(registry: &Registry) -> Self {
        let gauge = |name: &str, help: &str, labels: &[&str]| {
            let options = Opts::new(format!("apiserver_flowcontrol_{name}"), help);
            let gauge = GaugeVec::new(options, labels).expect(VALID);
            add(registry, gauge.clone());
            gauge
        };
        let of_level = |name, help| gauge(name, help, &LEVEL);
        let bounds = ["priority_level", "bound"];
        let fair_fraction = Gauge::new(
            "apiserver_flowcontrol_seat_fair_frac",
            "Fraction of its wanted seats that each level gets that can use them.",
        );
        let fair_fraction = fair_fraction.expect(VALID);
        add(registry, fair_fraction.clone());
        Self {
            fair_fraction,
            seats: [
                of_level("nominal_limit_seats", "Share of the level of the server's seats."),
                of_level("request_concurrency_limit", "Share of the level of the server's seats."),
                of_level("lower_limit_seats", "Smallest limit of the level."),
                of_level("upper_limit_seats", "Largest limit of the level."),
                of_level("current_limit_seats", "Present limit of the level."),
                of_level("target_seats", "Limit that the level should have."),
            ],
            demand: [
                of_level("demand_seats_average", "Average demand in the last period, in seats."),
                of_level(
                    "demand_seats_stdev",
                    "Standard deviation of the demand in the last period, in seats.",
                ),
                of_level(
                    "demand_seats_high_watermark",
                    "Highest demand in the last period, in seats.",
                ),
                of_level("demand_seats_smoothed", "Smoothed demand, in seats."),
            ],
            progress: [
                of_level("current_r", "Work of each active queue so far, in seat-seconds."),
                of_level(
                    "dispatch_r",
                    "Work of each active queue until the last dispatch, in seat-seconds.",
                ),
                of_level(
                    "latest_s",
                    "Virtual start of the request that was dispatched last, in seat-seconds.",
                ),
            ],
            next_starts: gauge(
                "next_s_bounds",
                "Smallest and largest virtual start of the oldest requests of queues, in seat-seconds.",
                &bounds,
            ),
            discounted_starts: gauge(
                "next_discounted_s_bounds",
                "The same without the estimated work in progress, in seat-seconds.",
                &bounds,
            ),
        }
    }

    fn show(&self, level: &LevelReading) {
        let LevelReading {
            seats,
            demand,
            progress,
            ..
        } = level;
        let label = &[level.name.as_str()];
        let whole = [seats.nominal, seats.nominal, seats.lower, seats.upper, seats.current].map(f64::from);
        for (gauge, value) in self.seats.iter().zip(whole.into_iter().chain([seats.target])) {
            gauge.with_label_values(label).set(value);
        }
        let values = [demand.average, demand.deviation, demand.high, demand.smoothed];
        for (gauge, value) in self.demand.iter().zip(values) {
            gauge.with_label_values(label).set(value);
        }
        let values = [progress.current, progress.dispatched, progress.latest_start];
        for (gauge, value) in self.progress.iter().zip(values) {
            gauge.with_label_values(label).set(value);
        }
        for (gauge, (least, most)) in [
            (&self.next_starts, progress.next_starts),
            (&self.discounted_starts, progress.discounted_starts),
        ] {
            gauge.with_label_values(&[label[0], "min"]).set(least);
            gauge.with_label_values(&[label[0], "max"]).set(most);
        }
    }

    fn forget(&self, level: &str) {
        for gauge in self.seats.iter().chain(&self.demand).chain(&self.progress) {
            let _ = gauge.remove_label_values(&[level]);
        }
        for bound in ["min", "max"] {
            let _ = self.next_starts.remove_label_values(&[level, bound]);
            let _ = self.discounted_starts.remove_label_values(&[level, bound]);
        }
    }
}

impl FlowSeries {
    /// Counts a request of an estimated number of seats; `watches` is the number of watches that a write reaches.
    pub fn arrived(&self, seats: u32, watches: Option<usize>) {
        self.estimated_seats.observe(seats.into());
        if let Some(watches) = watches {
            #[expect(clippy::cast_precision_loss, reason = "the bucket does not change by a watch")]
            self.watches.observe(watches as f64);
        }
    }

    /// Counts a request that waits, in a queue of `length` requests.
    pub fn queued(&self, length: usize) {
        self.queued.inc();
        #[expect(clippy::cast_precision_loss, reason = "queues are far shorter than 2^52")]
        self.queue_length.observe(length as f64);
    }

    /// Counts the end of a wait, during which the request was the next one and did not fit `not_accommodated` times.
    pub fn left_queue(&self, waited: Duration, executes: bool, not_accommodated: u64) {
        self.queued.dec();
        self.not_accommodated.inc_by(not_accommodated);
        let histogram = if executes { &self.waited } else { &self.waited_in_vain };
        histogram.observe(waited.as_secs_f64());
    }

    /// Counts a rejected request.
    pub fn rejected(&self, reason: RejectionReason) {
        self.rejected[reason as usize].inc();
    }

    /// Counts a request that executes with `seats`.
    pub fn began(&self, seats: u32) {
        self.dispatched.inc();
        self.executing.inc();
        self.executing_seats.add(seats.into());
    }

    /// Counts the end of a request that executed with `seats`.
    pub fn ended(&self, seats: u32, took: Duration, is_watch: bool) {
        self.executing.dec();
        self.executing_seats.sub(seats.into());
        let histogram = if is_watch { &self.watches_begun } else { &self.executed };
        histogram.observe(took.as_secs_f64());
    }
}

/// A gauge under a second name, so that it is counted once.
struct Alias {
    gauge: IntGaugeVec,
    name: String,
    help: &'static str,
    desc: Desc,
}

impl Alias {
    fn new(gauge: IntGaugeVec, name: String, help: &'static str) -> Self {
        let labels = FLOW.map(str::to_owned).to_vec();
        let desc = Desc::new(name.clone(), help.to_owned(), labels, HashMap::new()).expect(VALID);
        Self {
            gauge,
            name,
            help,
            desc,
        }
    }
}

impl Collector for Alias {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.desc]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut families = self.gauge.collect();
        for family in &mut families {
            family.set_name(self.name.clone());
            family.set_help(self.help.to_owned());
        }
        families
    }
}

/// Histograms over time, which are counted elsewhere.
#[derive(Clone, Default)]
struct Distributions(Arc<Mutex<Vec<MetricFamily>>>);

impl Distributions {
    fn set(&self, FlowReadings { levels, kinds, .. }: &FlowReadings) {
        let families = vec![
            family(
                "priority_level_seat_utilization",
                "Seats in use, as a fraction of the limit, in each nanosecond.",
                levels.iter().map(|level| {
                    metric(
                        &[("phase", "executing"), ("priority_level", &level.name)],
                        &level.seat_utilization,
                    )
                }),
            ),
            family(
                "priority_level_request_utilization",
                "Waiting and executing requests, as a fraction of the limit, in each nanosecond.",
                levels.iter().flat_map(|level| {
                    let phases = [("executing", &level.executing), ("waiting", &level.waiting)];
                    phases.map(|(phase, values)| metric(&[("phase", phase), ("priority_level", &level.name)], values))
                }),
            ),
            family(
                "read_vs_write_current_requests",
                "Waiting and executing requests, as a fraction of the limit of their kind, in each nanosecond.",
                kinds
                    .iter()
                    .map(|kind| metric(&[("phase", kind.phase), ("request_kind", kind.kind)], &kind.requests)),
            ),
            family(
                "demand_seats",
                "Wanted seats, as a fraction of the nominal limit, in each nanosecond.",
                levels
                    .iter()
                    .map(|level| metric(&[("priority_level", &level.name)], &level.demand_over_time)),
            ),
        ];
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = families;
    }
}

impl Collector for Distributions {
    fn desc(&self) -> Vec<&Desc> {
        Vec::new()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let families = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        families
            .iter()
            .filter(|family| !family.get_metric().is_empty())
            .cloned()
            .collect()
    }
}

fn family(name: &str, help: &str, metrics: impl Iterator<Item = Metric>) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(format!("apiserver_flowcontrol_{name}"));
    family.set_help(help.to_owned());
    family.set_field_type(MetricType::HISTOGRAM);
    family.set_metric(metrics.collect());
    family
}

fn metric(labels: &[(&str, &str)], values: &Distribution) -> Metric {
    let label = |(name, value): &(&str, &str)| {
        let mut label = LabelPair::default();
        label.set_name((*name).to_owned());
        label.set_value((*value).to_owned());
        label
    };
    let bucket = |(bound, nanos): &(f64, u64)| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(*bound);
        bucket.set_cumulative_count(*nanos);
        bucket
    };
    let mut histogram = HistogramProto::default();
    histogram.set_sample_count(values.count);
    histogram.set_sample_sum(values.sum);
    histogram.set_bucket(values.buckets.iter().map(bucket).collect());
    let mut metric = Metric::default();
    metric.set_label(labels.iter().map(label).collect());
    metric.set_histogram(histogram);
    metric
}

impl fmt::Debug for Distributions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Distributions").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use prometheus::TextEncoder;

    use super::*;

    fn rendered(registry: &Registry) -> String {
        TextEncoder::new().encode_to_string(&registry.gather()).unwrap()
    }

    #[test]
    fn levels_and_flows_have_kube_apiservers_names() {
        let registry = Registry::new();
        let metrics = FlowControlMetrics::new(&registry);
        let series = metrics.series("system", "nodes");
        series.arrived(2, Some(12));
        series.queued(3);
        series.left_queue(Duration::from_millis(30), true, 5);
        series.began(2);
        series.rejected(RejectionReason::QueueFull);
        let mut level = LevelReading::new("system");
        level.seats.nominal = 74;
        level.seat_utilization = Distribution {
            buckets: vec![(0.0, 5), (1.0, 9)],
            count: 9,
            sum: 2.5,
        };
        metrics.show(&FlowReadings {
            fair_fraction: 0.5,
            levels: vec![level],
            kinds: Vec::new(),
        });
        let text = rendered(&registry);
        for line in [
            "apiserver_flowcontrol_seat_fair_frac 0.5",
            "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"system\"} 74",
            "apiserver_flowcontrol_current_executing_seats{flow_schema=\"nodes\",priority_level=\"system\"} 2",
            "apiserver_flowcontrol_request_concurrency_in_use{flow_schema=\"nodes\",priority_level=\"system\"} 2",
            "apiserver_flowcontrol_request_dispatch_no_accommodation_total{flow_schema=\"nodes\",priority_level=\"system\"} 5",
            "apiserver_flowcontrol_rejected_requests_total{flow_schema=\"nodes\",priority_level=\"system\",reason=\"queue-full\"} 1",
            "apiserver_flowcontrol_priority_level_seat_utilization_bucket{phase=\"executing\",priority_level=\"system\",le=\"1\"} 9",
            "apiserver_flowcontrol_priority_level_seat_utilization_sum{phase=\"executing\",priority_level=\"system\"} 2.5",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line} is not in\n{text}");
        }
        series.ended(2, Duration::from_millis(1), false);
        metrics.keep_series(&[]);
        metrics.show(&FlowReadings::default());
        let text = rendered(&registry);
        assert!(!text.contains("system"), "{text}");
    }
}
