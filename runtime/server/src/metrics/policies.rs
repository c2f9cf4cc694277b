//! Metrics of admission policies.

use std::time::Duration;

use prometheus::{HistogramVec, IntCounterVec, Registry};

use super::{counters, histograms};

/// kube-apiserver's buckets, in seconds.
const SECONDS: [f64; 5] = [0.000_000_5, 0.001, 0.01, 0.1, 1.0];

/// The error of a policy's expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyError {
    /// The expression was evaluated.
    None,
    /// The expression does not compile.
    Compilation,
    /// The expressions cost more than their budget.
    OutOfBudget,
    /// The expression is false, or its evaluation fails.
    Invalid,
}

/// The consequence of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// The failure is ignored.
    Allow,
    /// The request is refused.
    Deny,
    /// The violation is in the audit log.
    Audit,
    /// The client gets a warning.
    Warn,
}

/// Metrics of admission policies.
#[derive(Clone, Debug)]
pub struct PolicyMetrics {
    validations: IntCounterVec,
    validation_seconds: HistogramVec,
    mutations: IntCounterVec,
    mutation_seconds: HistogramVec,
}

impl PolicyError {
    const ALL: [Self; 4] = [Self::None, Self::Compilation, Self::OutOfBudget, Self::Invalid];

    /// Returns the error that a message of a policy is about.
    #[must_use]
    pub fn classify(message: &str) -> Self {
        match message {
            message if message.starts_with("compilation") => Self::Compilation,
            message if message.starts_with("validation failed due to running out of cost budget") => Self::OutOfBudget,
            _ => Self::Invalid,
        }
    }

    /// The value of the label `error_type`.
    const fn label(self) -> &'static str {
        match self {
            Self::None => "no_error",
            Self::Compilation => "compile_error",
            Self::OutOfBudget => "out_of_budget",
            Self::Invalid => "invalid_error",
        }
    }
}

impl Enforcement {
    const ALL: [Self; 4] = [Self::Allow, Self::Deny, Self::Audit, Self::Warn];

    /// The value of the label `enforcement_action`.
    const fn label(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Audit => "audit",
            Self::Warn => "warn",
        }
    }
}

impl PolicyMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        const VALIDATION: [&str; 4] = ["policy", "policy_binding", "error_type", "enforcement_action"];
        const MUTATION: [&str; 3] = ["policy", "policy_binding", "error_type"];
        Self {
            validations: counters(
                registry,
                "apiserver_validating_admission_policy_check_total",
                "Violations of validating policies, by their consequence.",
                &VALIDATION,
            ),
            validation_seconds: histograms(
                registry,
                "apiserver_validating_admission_policy_check_duration_seconds",
                "Time that violated validations of policies take, in seconds.",
                &SECONDS,
                &VALIDATION,
            ),
            mutations: counters(
                registry,
                "apiserver_mutating_admission_policy_check_total",
                "Evaluations of mutations of policies.",
                &MUTATION,
            ),
            mutation_seconds: histograms(
                registry,
                "apiserver_mutating_admission_policy_check_duration_seconds",
                "Time that mutations of policies take, in seconds.",
                &SECONDS,
                &MUTATION,
            ),
        }
    }

    /// Counts a violation of a validating policy that `binding` puts into effect.
    pub fn validated(&self, policy: &str, binding: &str, error: PolicyError, enforcement: Enforcement, took: Duration) {
        let labels = [policy, binding, error.label(), enforcement.label()];
        self.validations.with_label_values(&labels).inc();
        let seconds = self.validation_seconds.with_label_values(&labels);
        seconds.observe(took.as_secs_f64());
    }

    /// Counts an evaluation of a mutation that `binding` puts into effect.
    pub fn mutated(&self, policy: &str, binding: &str, error: PolicyError, took: Duration) {
        let labels = [policy, binding, error.label()];
        self.mutations.with_label_values(&labels).inc();
        let seconds = self.mutation_seconds.with_label_values(&labels);
        seconds.observe(took.as_secs_f64());
    }

    /// Removes the series of a binding that is not in effect any more.
    pub fn forget(&self, policy: &str, binding: &str) {
        for error in PolicyError::ALL {
            let labels = [policy, binding, error.label()];
            // Most combinations were never counted.
            let _ = self.mutations.remove_label_values(&labels);
            let _ = self.mutation_seconds.remove_label_values(&labels);
            for enforcement in Enforcement::ALL {
                let labels = [policy, binding, error.label(), enforcement.label()];
                let _ = self.validations.remove_label_values(&labels);
                let _ = self.validation_seconds.remove_label_values(&labels);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_removed_bindings_end() {
        let registry = Registry::new();
        let metrics = PolicyMetrics::new(&registry);
        let took = Duration::from_millis(1);
        metrics.validated("p", "b", PolicyError::classify("no"), Enforcement::Deny, took);
        metrics.validated(
            "p",
            "c",
            PolicyError::classify("compilation error: x"),
            Enforcement::Warn,
            took,
        );
        metrics.mutated("p", "b", PolicyError::None, took);
        let series = || {
            registry
                .gather()
                .iter()
                .map(|family| family.get_metric().len())
                .sum::<usize>()
        };
        assert_eq!(series(), 6);
        metrics.forget("p", "b");
        assert_eq!(series(), 2);
    }
}
