//! Series of resources, which end when their resource is not served any more.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use prometheus::core::{MetricVec, MetricVecBuilder};
use prometheus::{HistogramVec, IntCounterVec, Registry};

use super::{counters, histograms};

/// A metric with the labels `group` and `resource`.
pub(super) trait Labelled {
    /// One series.
    type Series;

    fn get(&self, values: &[&str]) -> Self::Series;
    fn remove(&self, values: &[&str]);
}

impl<B: MetricVecBuilder> Labelled for MetricVec<B> {
    type Series = B::M;

    fn get(&self, values: &[&str]) -> B::M {
        self.with_label_values(values)
    }

    fn remove(&self, values: &[&str]) {
        // Missing values were removed before.
        let _ = self.remove_label_values(values);
    }
}

/// The series of a metric, with their label values by resource.
pub(super) struct Series<V> {
    metric: V,
    /// Positions of the labels `group` and `resource`.
    positions: [usize; 2],
    known: Mutex<HashMap<[String; 2], BTreeSet<Vec<String>>>>,
}

impl<V: Labelled> Series<V> {
    /// Keeps the series of `metric`, whose labels are `names`.
    pub(super) fn new(metric: V, names: &[&str]) -> Self {
        let position = |wanted: &str| names.iter().position(|name| *name == wanted).unwrap_or_default();
        Self {
            metric,
            positions: [position("group"), position("resource")],
            known: Mutex::default(),
        }
    }

    /// The series with these label values, which begins with the first call.
    pub(super) fn with_label_values<T: AsRef<str>>(&self, values: &[T]) -> V::Series {
        let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
        let resource = self.positions.map(|position| values[position].to_owned());
        let all = values.iter().copied().map(str::to_owned).collect();
        self.known().entry(resource).or_default().insert(all);
        self.metric.get(&values)
    }

    /// Ends all series of a resource.
    pub(super) fn forget(&self, group: &str, resource: &str) {
        let gone = self.known().remove(&[group.to_owned(), resource.to_owned()]);
        for values in gone.into_iter().flatten() {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            self.metric.remove(&values);
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<[String; 2], BTreeSet<Vec<String>>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> fmt::Debug for Series<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series").finish_non_exhaustive()
    }
}

/// Registers counters of resources.
pub(super) fn counted(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> Series<IntCounterVec> {
    Series::new(counters(registry, name, help, labels), labels)
}

/// Registers histograms of resources.
pub(super) fn measured(
    registry: &Registry,
    name: &str,
    help: &str,
    buckets: &[f64],
    labels: &[&str],
) -> Series<HistogramVec> {
    Series::new(histograms(registry, name, help, buckets, labels), labels)
}

#[cfg(test)]
mod tests {
    use prometheus::Opts;
    use prometheus::core::Collector as _;

    use super::*;

    #[test]
    fn series_end_with_their_resource() {
        let names = ["verb", "group", "resource"];
        let metric = IntCounterVec::new(Opts::new("a", "b"), &names).expect("valid");
        let series = Series::new(metric.clone(), &names);
        for (verb, resource) in [("GET", "a"), ("PUT", "a"), ("GET", "a"), ("GET", "b")] {
            series.with_label_values(&[verb, "example.com", resource]).inc();
        }
        assert_eq!(metric.collect()[0].get_metric().len(), 3);
        series.forget("example.com", "a");
        assert_eq!(metric.collect()[0].get_metric().len(), 1);
        assert_eq!(series.known().len(), 1);
        assert_eq!(series.with_label_values(&["GET", "example.com", "a"]).get(), 0);
    }
}
