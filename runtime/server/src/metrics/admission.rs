//! Durations of admission.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use planesmith_access::admission::{Observer, Operation, Phase, PluginCall};
use prometheus::{Histogram, HistogramVec, Registry};

use super::histograms;

/// kube-apiserver's buckets, in seconds.
const SECONDS: [f64; 6] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5];

/// The metrics of admission.
#[derive(Clone, Debug)]
pub(super) struct AdmissionMetrics {
    plugins: HistogramVec,
    steps: HistogramVec,
}

impl AdmissionMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let plugins = histograms(
            registry,
            "apiserver_admission_controller_admission_duration_seconds",
            "Time that a plugin takes for a request, in seconds.",
            &SECONDS,
            &["name", "type", "operation", "rejected"],
        );
        let steps = histograms(
            registry,
            "apiserver_admission_step_admission_duration_seconds",
            "Time that all plugins of a step take for a request, in seconds.",
            &SECONDS,
            &["type", "operation", "rejected"],
        );
        Self { plugins, steps }
    }

    /// Returns an observer of a chain with these plugins.
    pub(super) fn of_chain(&self, names: &[&'static str]) -> Arc<dyn Observer> {
        let plugin = |name: &&'static str| (*name, Cells::default());
        Arc::new(ChainMetrics {
            metrics: self.clone(),
            plugins: names.iter().map(plugin).collect(),
            steps: Cells::default(),
        })
    }
}

/// One series for each phase, operation and outcome, created when it is first counted.
#[derive(Debug, Default)]
struct Cells([OnceLock<Histogram>; 16]);

impl Cells {
    fn observe(&self, call: PluginCall, took: Duration, make: impl FnOnce([&'static str; 3]) -> Histogram) {
        let (phase, kind) = match call.phase {
            Phase::Mutating => (0, "admit"),
            Phase::Validating => (1, "validate"),
        };
        let operation = match call.operation {
            Operation::Create => 0,
            Operation::Update => 1,
            Operation::Delete => 2,
            Operation::Connect => 3,
        };
        let rejected = if call.rejected { "true" } else { "false" };
        let cell = &self.0[phase * 8 + operation * 2 + usize::from(call.rejected)];
        let seconds = cell.get_or_init(|| make([kind, call.operation.as_str(), rejected]));
        seconds.observe(took.as_secs_f64());
    }
}

struct ChainMetrics {
    metrics: AdmissionMetrics,
    plugins: Vec<(&'static str, Cells)>,
    steps: Cells,
}

impl Observer for ChainMetrics {
    fn plugin(&self, index: usize, call: PluginCall, took: Duration) {
        if let Some((name, cells)) = self.plugins.get(index) {
            let make = |[kind, operation, rejected]: [&str; 3]| {
                let labels = [name, kind, operation, rejected];
                self.metrics.plugins.with_label_values(&labels)
            };
            cells.observe(call, took, make);
        }
    }

    fn step(&self, call: PluginCall, took: Duration) {
        let make = |labels: [&str; 3]| self.metrics.steps.with_label_values(&labels);
        self.steps.observe(call, took, make);
    }
}
