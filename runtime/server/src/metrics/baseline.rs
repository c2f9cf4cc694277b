//! The values from which metrics count after a client has reset them.

use std::collections::HashMap;

use prometheus::proto::{Bucket, Counter, Histogram, Metric, MetricFamily, MetricType};

/// The series of counters and histograms at a reset. Those that have not changed since are not rendered.
///
/// kube-apiserver deletes the series of all metrics with labels. Here they go on, because the code that counts holds them, and the
/// earlier values are subtracted. Gauges show the present, so that a reset would only hide it.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    series: HashMap<SeriesName, Metric>,
}

/// The name of a metric, and the values of its labels.
type SeriesName = (String, Vec<String>);

impl Baseline {
    pub(super) fn new(families: Vec<MetricFamily>) -> Self {
        let mut series = HashMap::new();
        for mut family in families {
            if is_counted(&family) {
                let name = family.name().to_owned();
                let metrics = family.take_metric().into_iter();
                series.extend(
                    metrics
                        .filter(has_labels)
                        .map(|metric| ((name.clone(), labels(&metric)), metric)),
                );
            }
        }
        Self { series }
    }

    /// Subtracts the values at the reset.
    pub(super) fn apply(&self, families: &mut Vec<MetricFamily>) {
        if self.series.is_empty() {
            return;
        }
        for family in families.iter_mut().filter(|family| is_counted(family)) {
            let (name, sort) = (family.name().to_owned(), family.get_field_type());
            let mut left = Vec::new();
            for metric in family.take_metric() {
                let before = self.series.get(&(name.clone(), labels(&metric)));
                left.extend(match before {
                    Some(before) => difference(metric, before, sort),
                    None => Some(metric),
                });
            }
            family.set_metric(left);
        }
        families.retain(|family| !family.get_metric().is_empty());
    }
}

fn is_counted(family: &MetricFamily) -> bool {
    matches!(family.get_field_type(), MetricType::COUNTER | MetricType::HISTOGRAM)
}

fn has_labels(metric: &Metric) -> bool {
    !metric.get_label().is_empty()
}

fn labels(metric: &Metric) -> Vec<String> {
    metric
        .get_label()
        .iter()
        .map(|label| label.value().to_owned())
        .collect()
}

/// The part of `now` that came after `before`; `None` if that is nothing. A series that counts less than before has begun again.
fn difference(mut now: Metric, before: &Metric, sort: MetricType) -> Option<Metric> {
    if sort == MetricType::COUNTER {
        let (value, before) = (now.get_counter().get_value(), before.get_counter().get_value());
        if value > before {
            let mut counter = Counter::default();
            counter.set_value(value - before);
            now.set_counter(counter);
        }
        return (value.total_cmp(&before).is_ne()).then_some(now);
    }
    let (count, before_count) = (
        now.get_histogram().get_sample_count(),
        before.get_histogram().get_sample_count(),
    );
    if count > before_count {
        let histogram = histogram_since(now.get_histogram(), before.get_histogram());
        now.set_histogram(histogram);
    }
    (count != before_count).then_some(now)
}

fn histogram_since(now: &Histogram, before: &Histogram) -> Histogram {
    let mut histogram = Histogram::default();
    histogram.set_sample_count(now.get_sample_count().saturating_sub(before.get_sample_count()));
    histogram.set_sample_sum(now.get_sample_sum() - before.get_sample_sum());
    let pairs = now.get_bucket().iter().zip(before.get_bucket());
    let buckets = pairs.map(|(now, before)| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(now.upper_bound());
        bucket.set_cumulative_count(now.cumulative_count().saturating_sub(before.cumulative_count()));
        bucket
    });
    histogram.set_bucket(buckets.collect());
    histogram
}

#[cfg(test)]
mod tests {
    use prometheus::{
        HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
    };

    use super::*;

    #[test]
    fn series_with_labels_count_from_the_reset() {
        let registry = Registry::new();
        let calls = IntCounterVec::new(Opts::new("calls", "Calls."), &["by"]).unwrap();
        let times = HistogramVec::new(HistogramOpts::new("times", "Times.").buckets(vec![1.0]), &["by"]).unwrap();
        let plain = IntCounter::new("plain", "Plain.").unwrap();
        let present = IntGaugeVec::new(Opts::new("present", "Present."), &["by"]).unwrap();
        registry.register(Box::new(calls.clone())).unwrap();
        registry.register(Box::new(times.clone())).unwrap();
        registry.register(Box::new(plain.clone())).unwrap();
        registry.register(Box::new(present.clone())).unwrap();
        for by in ["a", "b"] {
            calls.with_label_values(&[by]).inc_by(5);
        }
        times.with_label_values(&["a"]).observe(0.5);
        plain.inc();
        present.with_label_values(&["a"]).set(7);
        let baseline = Baseline::new(registry.gather());
        let rendered = || {
            let mut families = registry.gather();
            baseline.apply(&mut families);
            let text = TextEncoder::new().encode_to_string(&families).unwrap();
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(rendered(), ["plain 1", "present{by=\"a\"} 7"]);
        calls.with_label_values(&["b"]).inc();
        times.with_label_values(&["a"]).observe(2.0);
        let expected = [
            "calls{by=\"b\"} 1",
            "plain 1",
            "present{by=\"a\"} 7",
            "times_bucket{by=\"a\",le=\"1\"} 0",
            "times_bucket{by=\"a\",le=\"+Inf\"} 1",
            "times_sum{by=\"a\"} 2",
            "times_count{by=\"a\"} 1",
        ];
        assert_eq!(rendered(), expected);
        // A series that ended and began again has nothing of before.
        calls.remove_label_values(&["a"]).unwrap();
        calls.with_label_values(&["a"]).inc_by(2);
        assert_eq!(rendered()[0], "calls{by=\"a\"} 2");
    }
}
