//! Metrics of admission webhooks and of the conditions of webhooks and policies.

use std::time::Duration;

use planesmith_access::admission::Operation;
use prometheus::{HistogramVec, IntCounterVec, Registry};

use super::{counters, histograms};

/// kube-apiserver's buckets, in seconds.
const SECONDS: [f64; 8] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0];

/// kube-apiserver's buckets for conditions, in seconds.
const CONDITION_SECONDS: [f64; 7] = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/// The largest status code of a label; larger ones count as this.
const MAX_CODE: i32 = 600;

/// The type of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookType {
    /// It can change objects.
    Mutating,
    /// It accepts or refuses requests.
    Validating,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookOutcome {
    /// The webhook admits the request.
    Admitted,
    /// The webhook refuses the request, with this status code.
    Rejected {
        /// The status code.
        code: u16,
    },
    /// The webhook gave no valid answer.
    Unanswered {
        /// The status code of the failure.
        code: i32,
        /// True if the request goes on nevertheless.
        ignored: bool,
    },
    /// The server could not use the answer.
    ServerFailed,
}

/// Metrics of admission webhooks.
#[derive(Clone, Debug)]
pub struct WebhookMetrics {
    seconds: HistogramVec,
    requests: IntCounterVec,
    rejections: IntCounterVec,
    failed_open: IntCounterVec,
    condition_seconds: HistogramVec,
    condition_errors: IntCounterVec,
    exclusions: IntCounterVec,
}

impl WebhookType {
    /// The value of the label `type`.
    const fn label(self) -> &'static str {
        match self {
            Self::Mutating => "admit",
            Self::Validating => "validating",
        }
    }
}

impl WebhookMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            seconds: histograms(
                registry,
                "apiserver_admission_webhook_admission_duration_seconds",
                "Time that a webhook takes for a request, in seconds.",
                &SECONDS,
                &["name", "type", "operation", "rejected"],
            ),
            requests: counters(
                registry,
                "apiserver_admission_webhook_request_total",
                "Calls of webhooks, by the status code of the answer.",
                &["name", "type", "operation", "code", "rejected"],
            ),
            rejections: counters(
                registry,
                "apiserver_admission_webhook_rejection_count",
                "Requests that were refused because of a webhook, by the cause.",
                &["name", "type", "operation", "error_type", "rejection_code"],
            ),
            failed_open: counters(
                registry,
                "apiserver_admission_webhook_fail_open_count",
                "Failed calls of webhooks whose failures are ignored.",
                &["name", "type"],
            ),
            condition_seconds: histograms(
                registry,
                "apiserver_admission_match_condition_evaluation_seconds",
                "Time that the conditions of a webhook take for a request, in seconds.",
                &CONDITION_SECONDS,
                &["name", "kind", "type", "operation"],
            ),
            condition_errors: counters(
                registry,
                "apiserver_admission_match_condition_evaluation_errors_total",
                "Conditions that could not be evaluated.",
                &["name", "kind", "type", "operation"],
            ),
            exclusions: counters(
                registry,
                "apiserver_admission_match_condition_exclusions_total",
                "Requests that a condition excluded.",
                &["name", "kind", "type", "operation"],
            ),
        }
    }

    /// Counts a call of the webhook `name`.
    pub fn called(
        &self,
        name: &str,
        webhook: WebhookType,
        operation: Operation,
        outcome: WebhookOutcome,
        took: Duration,
    ) {
        let (webhook, operation) = (webhook.label(), operation.as_str());
        let (code, error) = match outcome {
            WebhookOutcome::Admitted => (200, None),
            WebhookOutcome::Rejected { code } => (i32::from(code), Some("no_error")),
            WebhookOutcome::Unanswered { code, ignored: true } => (code, None),
            WebhookOutcome::Unanswered { code, ignored: false } => (code, Some("calling_webhook_error")),
            WebhookOutcome::ServerFailed => (0, Some("apiserver_internal_error")),
        };
        let rejected = if error.is_some() { "true" } else { "false" };
        let code = code.min(MAX_CODE).to_string();
        let seconds = self.seconds.with_label_values(&[name, webhook, operation, rejected]);
        seconds.observe(took.as_secs_f64());
        let labels = [name, webhook, operation, code.as_str(), rejected];
        self.requests.with_label_values(&labels).inc();
        if let Some(error) = error {
            let labels = [name, webhook, operation, error, code.as_str()];
            self.rejections.with_label_values(&labels).inc();
        }
    }

    /// Counts a request that goes on though the webhook `name` failed.
    pub fn failed_open(&self, name: &str, webhook: WebhookType) {
        self.failed_open.with_label_values(&[name, webhook.label()]).inc();
    }

    /// Reports the time that the conditions of the webhook `name` took.
    pub fn conditions_evaluated(&self, name: &str, webhook: WebhookType, operation: Operation, took: Duration) {
        let labels = [name, "webhook", webhook.label(), operation.as_str()];
        self.condition_seconds
            .with_label_values(&labels)
            .observe(took.as_secs_f64());
    }

    /// Counts `count` conditions of the webhook `name` that could not be evaluated.
    pub fn conditions_failed(&self, name: &str, webhook: WebhookType, operation: Operation, count: usize) {
        let labels = [name, "webhook", webhook.label(), operation.as_str()];
        self.condition_errors.with_label_values(&labels).inc_by(count as u64);
    }

    /// Counts `count` conditions of the policy `name` that could not be evaluated.
    pub fn policy_conditions_failed(&self, name: &str, operation: Operation, count: usize) {
        let labels = [name, "policy", "validate", operation.as_str()];
        self.condition_errors.with_label_values(&labels).inc_by(count as u64);
    }

    /// Counts a request that a condition of the webhook `name` excluded.
    pub fn excluded(&self, name: &str, webhook: WebhookType, operation: Operation) {
        let labels = [name, "webhook", webhook.label(), operation.as_str()];
        self.exclusions.with_label_values(&labels).inc();
    }
}
