//! The metrics and label values that operators leave out of `/metrics`, to escape from metrics with too many series.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prometheus::proto::{Bucket, Counter, Gauge, Histogram, Metric, MetricFamily, MetricType};

/// The value of a label in place of those that are not allowed; kube-apiserver's.
const UNEXPECTED: &str = "unexpected";

/// The values of each label that are allowed.
type AllowedValues = BTreeMap<String, BTreeSet<String>>;

/// The metrics and label values that are rendered. The default is all of them.
#[derive(Clone, Debug, Default)]
pub struct MetricsSelection {
    /// Names of metrics that are not rendered.
    pub disabled: BTreeSet<String>,
    /// By metric, the labels of which only some values are rendered. Series with other values are added up, under the value
    /// `unexpected`.
    pub allowed: BTreeMap<String, AllowedValues>,
}

impl MetricsSelection {
    /// Leaves out what is not selected.
    pub(super) fn apply(&self, families: &mut Vec<MetricFamily>) {
        families.retain(|family| !self.disabled.contains(family.name()));
        for family in families {
            if let Some(allowed) = self.allowed.get(family.name()) {
                constrain(family, allowed);
            }
        }
    }
}

/// Replaces the values of `family` that are not allowed, and adds up the series that have the same labels then.
fn constrain(family: &mut MetricFamily, allowed: &AllowedValues) {
    let sort = family.get_field_type();
    let mut places = HashMap::new();
    let mut merged: Vec<Metric> = Vec::new();
    for mut series in family.take_metric() {
        for label in series.mut_label() {
            let is_allowed = |values: &BTreeSet<String>| values.contains(label.value());
            if !allowed.get(label.name()).is_none_or(is_allowed) {
                label.set_value(UNEXPECTED.to_owned());
            }
        }
        let values: Vec<String> = series
            .get_label()
            .iter()
            .map(|label| label.value().to_owned())
            .collect();
        match places.get(&values) {
            Some(place) => add(&mut merged[*place], &series, sort),
            None => {
                places.insert(values, merged.len());
                merged.push(series);
            }
        }
    }
    family.set_metric(merged);
}

/// Adds the values of `other` to those of `sum`.
fn add(sum: &mut Metric, other: &Metric, sort: MetricType) {
    match sort {
        MetricType::COUNTER => {
            let mut counter = Counter::default();
            counter.set_value(sum.get_counter().get_value() + other.get_counter().get_value());
            sum.set_counter(counter);
        }
        MetricType::GAUGE => {
            let mut gauge = Gauge::default();
            gauge.set_value(sum.get_gauge().get_value() + other.get_gauge().get_value());
            sum.set_gauge(gauge);
        }
        MetricType::HISTOGRAM => {
            let added = added(sum.get_histogram(), other.get_histogram());
            sum.set_histogram(added);
        }
        // The server has none.
        MetricType::SUMMARY | MetricType::UNTYPED => {}
    }
}

/// The sum of two histograms of one metric, which have the same buckets.
fn added(one: &Histogram, other: &Histogram) -> Histogram {
    let mut sum = Histogram::default();
    sum.set_sample_count(one.get_sample_count() + other.get_sample_count());
    sum.set_sample_sum(one.get_sample_sum() + other.get_sample_sum());
    let pairs = one.get_bucket().iter().zip(other.get_bucket());
    let buckets = pairs.map(|(one, other)| {
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(one.upper_bound());
        bucket.set_cumulative_count(one.cumulative_count() + other.cumulative_count());
        bucket
    });
    sum.set_bucket(buckets.collect());
    sum
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry, TextEncoder};

    use super::*;

    /// Renders a counter `c` and a histogram `h`, each with the labels `a` and `b`.
    fn rendered(selection: &MetricsSelection) -> String {
        let registry = Registry::new();
        let counter = IntCounterVec::new(Opts::new("c", "c"), &["a", "b"]).unwrap();
        let histogram = HistogramVec::new(HistogramOpts::new("h", "h").buckets(vec![1.0, 2.0]), &["a", "b"]).unwrap();
        for (number, values) in [["x", "1"], ["y", "1"], ["z", "1"]].iter().enumerate() {
            counter.with_label_values(values).inc_by(number as u64 + 1);
            histogram.with_label_values(values).observe(1.5);
        }
        registry.register(Box::new(counter)).unwrap();
        registry.register(Box::new(histogram)).unwrap();
        let mut families = registry.gather();
        selection.apply(&mut families);
        TextEncoder::new().encode_to_string(&families).unwrap()
    }

    fn allowing(metric: &str, values: &[&str]) -> MetricsSelection {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let labels = BTreeMap::from([("a".to_owned(), values)]);
        MetricsSelection {
            allowed: BTreeMap::from([(metric.to_owned(), labels)]),
            ..MetricsSelection::default()
        }
    }

    #[test]
    fn disabled_metrics_are_left_out() {
        let all = rendered(&MetricsSelection::default());
        assert!(all.contains("c{") && all.contains("h_bucket{"));
        let without = rendered(&MetricsSelection {
            disabled: ["h".to_owned()].into(),
            ..MetricsSelection::default()
        });
        assert!(without.contains("c{") && !without.contains('h'), "{without}");
    }

    #[test]
    fn series_with_other_values_are_added_up() {
        let counted = rendered(&allowing("c", &["x"]));
        for line in [
            r#"c{a="x",b="1"} 1"#,
            r#"c{a="unexpected",b="1"} 5"#,
            r#"h_count{a="y",b="1"} 1"#,
        ] {
            assert!(counted.lines().any(|found| found == line), "{line}\n{counted}");
        }
        assert!(!counted.contains(r#"c{a="y""#), "{counted}");
        let measured = rendered(&allowing("h", &[""]));
        for line in [
            r#"h_bucket{a="unexpected",b="1",le="1"} 0"#,
            r#"h_bucket{a="unexpected",b="1",le="2"} 3"#,
            r#"h_sum{a="unexpected",b="1"} 4.5"#,
            r#"h_count{a="unexpected",b="1"} 3"#,
        ] {
            assert!(measured.lines().any(|found| found == line), "{line}\n{measured}");
        }
    }
}
