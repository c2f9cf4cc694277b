//! Metrics of the security levels of namespaces.

use std::sync::Arc;

use prometheus::{IntCounter, IntCounterVec, Opts};

use super::{Metrics, VALID};

/// Metrics of the security levels of namespaces, and of the objects that are checked against them.
#[derive(Debug)]
pub struct PodSecurityMetrics {
    evaluations: IntCounterVec,
    exemptions: IntCounterVec,
    errors: IntCounterVec,
    /// Objects of namespaces without restrictions that are created and updated: the most frequent evaluations.
    unrestricted: [IntCounter; 2],
}

/// A request whose object is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedRequest<'a> {
    /// True for an update, false for a creation.
    pub is_update: bool,
    /// The sort of the object, in one word: itself checked, or a controller of others.
    pub resource: &'static str,
    /// The subresource; empty for the object itself.
    pub subresource: &'a str,
}

/// The result of one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityEvaluation<'a> {
    /// `enforce`, `audit` or `warn`.
    pub mode: &'static str,
    /// The level.
    pub level: &'a str,
    /// The version of the level, `latest`, or `future` for one that is not known yet.
    pub version: &'a str,
    /// True if the object violates the level.
    pub is_denied: bool,
}

impl CheckedRequest<'_> {
    fn operation(&self) -> &'static str {
        match self.is_update {
            true => "update",
            false => "create",
        }
    }
}

/// Metrics that are not rendered.
impl Default for PodSecurityMetrics {
    fn default() -> Self {
        let counters = |name, help, labels: &[&str]| IntCounterVec::new(Opts::new(name, help), labels).expect(VALID);
        let evaluations = counters(
            "pod_security_evaluations_total",
            "Evaluations of pods and their templates by the security level of their namespace.",
            &[
                "decision",
                "policy_level",
                "policy_version",
                "mode",
                "request_operation",
                "resource",
                "subresource",
            ],
        );
        let unrestricted = |operation: &str| {
            let labels = ["allow", "privileged", "latest", "enforce", operation, "pod", ""];
            evaluations.with_label_values(&labels)
        };
        Self {
            unrestricted: [unrestricted("create"), unrestricted("update")],
            evaluations,
            exemptions: counters(
                "pod_security_exemptions_total",
                "Requests that the configuration exempts from security levels.",
                &["request_operation", "resource", "subresource"],
            ),
            errors: counters(
                "pod_security_errors_total",
                "Errors that prevented an evaluation, or invalid labels of namespaces.",
                &["fatal", "request_operation", "resource", "subresource"],
            ),
        }
    }
}

impl PodSecurityMetrics {
    /// Registers the metrics.
    #[must_use]
    pub fn register(metrics: &Metrics) -> Arc<Self> {
        let all = Self::default();
        for counters in [&all.evaluations, &all.exemptions, &all.errors] {
            metrics.register(counters.clone());
        }
        Arc::new(all)
    }

    /// Counts a pod in a namespace without restrictions.
    pub fn unrestricted(&self, is_update: bool) {
        self.unrestricted[usize::from(is_update)].inc();
    }

    /// Counts an evaluation.
    pub fn evaluated(&self, request: CheckedRequest<'_>, evaluation: SecurityEvaluation<'_>) {
        let decision = match evaluation.is_denied {
            true => "deny",
            false => "allow",
        };
        let labels = [
            decision,
            evaluation.level,
            evaluation.version,
            evaluation.mode,
            request.operation(),
            request.resource,
            request.subresource,
        ];
        self.evaluations.with_label_values(&labels).inc();
    }

    /// Counts an exempt request.
    pub fn exempted(&self, request: CheckedRequest<'_>) {
        let labels = [request.operation(), request.resource, request.subresource];
        self.exemptions.with_label_values(&labels).inc();
    }

    /// Counts an error, which is fatal if nothing was evaluated.
    pub fn failed(&self, request: CheckedRequest<'_>, is_fatal: bool) {
        let fatal = if is_fatal { "true" } else { "false" };
        let labels = [fatal, request.operation(), request.resource, request.subresource];
        self.errors.with_label_values(&labels).inc();
    }
}
