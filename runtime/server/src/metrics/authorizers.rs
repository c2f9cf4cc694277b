//! Metrics of single authorizers, by the types and names that the configuration gives them.

use std::time::Instant;

use prometheus::{DEFAULT_BUCKETS, Histogram, HistogramVec, IntCounter, IntCounterVec, Registry};

use super::{counters, histograms};

/// kube-apiserver's buckets for match conditions, in seconds.
const CONDITION_SECONDS: [f64; 7] = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/// The metrics of the authorizers of a server.
#[derive(Clone, Debug)]
pub struct AuthorizerMetrics {
    decisions: IntCounterVec,
    reviews: IntCounterVec,
    review_seconds: HistogramVec,
    reviews_failed_open: IntCounterVec,
    condition_failures: IntCounterVec,
    condition_exclusions: IntCounterVec,
    condition_seconds: HistogramVec,
}

impl AuthorizerMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let named = ["type", "name"];
        Self {
            decisions: counters(
                registry,
                "apiserver_authorization_decisions_total",
                "Final decisions, by authorizer.",
                &["type", "name", "decision"],
            ),
            reviews: counters(
                registry,
                "apiserver_authorization_webhook_evaluations_total",
                "Reviews by authorization webhooks, by result.",
                &["name", "result"],
            ),
            review_seconds: histograms(
                registry,
                "apiserver_authorization_webhook_duration_seconds",
                "Time until authorization webhooks answer, in seconds.",
                DEFAULT_BUCKETS,
                &["name", "result"],
            ),
            reviews_failed_open: counters(
                registry,
                "apiserver_authorization_webhook_evaluations_fail_open_total",
                "Failed reviews after which other authorizers decided, by result.",
                &["name", "result"],
            ),
            condition_failures: counters(
                registry,
                "apiserver_authorization_match_condition_evaluation_errors_total",
                "Evaluations of match conditions that failed, by authorizer.",
                &named,
            ),
            condition_exclusions: counters(
                registry,
                "apiserver_authorization_match_condition_exclusions_total",
                "Actions that match conditions exclude, by authorizer.",
                &named,
            ),
            condition_seconds: histograms(
                registry,
                "apiserver_authorization_match_condition_evaluation_seconds",
                "Time to evaluate match conditions, in seconds.",
                &CONDITION_SECONDS,
                &named,
            ),
        }
    }

    /// The decisions of the authorizer `name` of the type `kind`.
    #[must_use]
    pub fn decisions(&self, kind: &str, name: &str) -> DecisionMetrics {
        let of = |decision: &str| self.decisions.with_label_values(&[kind, name, decision]);
        DecisionMetrics {
            allowed: of("allowed"),
            denied: of("denied"),
        }
    }

    /// The reviews by the webhook `name`, whose failures leave the decision to others if `fails_open`.
    #[must_use]
    pub fn reviews(&self, name: &str, fails_open: bool) -> ReviewMetrics {
        let of = |result: ReviewResult| {
            let labels = [name, result.as_str()];
            let fails_open = fails_open && result != ReviewResult::Success;
            ReviewOutcome {
                count: self.reviews.with_label_values(&labels),
                seconds: self.review_seconds.with_label_values(&labels),
                failed_open: fails_open.then(|| self.reviews_failed_open.with_label_values(&labels)),
            }
        };
        ReviewMetrics(ReviewResult::ALL.map(of))
    }

    /// The match conditions of the authorizer `name` of the type `kind`.
    #[must_use]
    pub fn conditions(&self, kind: &str, name: &str) -> MatchConditionMetrics {
        let labels = [kind, name];
        MatchConditionMetrics {
            failures: self.condition_failures.with_label_values(&labels),
            exclusions: self.condition_exclusions.with_label_values(&labels),
            seconds: self.condition_seconds.with_label_values(&labels),
        }
    }
}

/// Counts the final decisions of one authorizer; cheap to clone.
#[derive(Clone, Debug)]
pub struct DecisionMetrics {
    allowed: IntCounter,
    denied: IntCounter,
}

impl DecisionMetrics {
    /// Counts a permission.
    pub fn allowed(&self) {
        self.allowed.inc();
    }

    /// Counts a denial.
    pub fn denied(&self) {
        self.denied.inc();
    }
}

/// The result of a review by another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewResult {
    /// The server answered.
    Success = 0,
    /// The server did not answer in time.
    Timeout = 1,
    /// The request ended before the server answered.
    Canceled = 2,
    /// The server could not be reached, or its answer is no review.
    Error = 3,
}

impl ReviewResult {
    const ALL: [Self; 4] = [Self::Success, Self::Timeout, Self::Canceled, Self::Error];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Timeout => "timeout",
            Self::Canceled => "canceled",
            Self::Error => "error",
        }
    }
}

/// Counts and times the reviews by one server.
#[derive(Debug)]
pub struct ReviewMetrics([ReviewOutcome; 4]);

#[derive(Debug)]
struct ReviewOutcome {
    count: IntCounter,
    seconds: Histogram,
    /// `None` for results after which no other authorizer decides.
    failed_open: Option<IntCounter>,
}

/// A review that waits for its answer. It counts as cancelled if it is dropped without one.
#[derive(Debug)]
pub struct ReviewInFlight<'m> {
    metrics: &'m ReviewMetrics,
    begin: Instant,
    result: ReviewResult,
}

impl ReviewMetrics {
    /// Begins to time a review.
    #[must_use]
    pub fn begin(&self) -> ReviewInFlight<'_> {
        ReviewInFlight {
            metrics: self,
            begin: Instant::now(),
            result: ReviewResult::Canceled,
        }
    }
}

impl ReviewInFlight<'_> {
    /// Counts the review with its result.
    pub fn finish(mut self, result: ReviewResult) {
        self.result = result;
    }
}

impl Drop for ReviewInFlight<'_> {
    fn drop(&mut self) {
        let outcome = &self.metrics.0[self.result as usize];
        outcome.count.inc();
        outcome.seconds.observe(self.begin.elapsed().as_secs_f64());
        if let Some(failed_open) = &outcome.failed_open {
            failed_open.inc();
        }
    }
}

/// Counts and times the match conditions of one authorizer.
#[derive(Debug)]
pub struct MatchConditionMetrics {
    failures: IntCounter,
    exclusions: IntCounter,
    seconds: Histogram,
}

impl MatchConditionMetrics {
    /// Runs and times an evaluation.
    pub fn time<T>(&self, evaluation: impl FnOnce() -> T) -> T {
        self.seconds.observe_closure_duration(evaluation)
    }

    /// Counts an action that a condition excludes.
    pub fn excluded(&self) {
        self.exclusions.inc();
    }

    /// Counts an evaluation that failed.
    pub fn failed(&self) {
        self.failures.inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_counts_once_whatever_becomes_of_it() {
        let metrics = AuthorizerMetrics::new(&Registry::new());
        let reviews = metrics.reviews("hook", true);
        reviews.begin().finish(ReviewResult::Success);
        reviews.begin().finish(ReviewResult::Timeout);
        drop(reviews.begin());
        let counts = |vec: &IntCounterVec| {
            ReviewResult::ALL.map(|result| vec.with_label_values(&["hook", result.as_str()]).get())
        };
        assert_eq!(counts(&metrics.reviews), [1, 1, 1, 0]);
        assert_eq!(counts(&metrics.reviews_failed_open), [0, 1, 1, 0]);
    }
}
