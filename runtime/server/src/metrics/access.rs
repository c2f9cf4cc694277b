//! Metrics of authentication and authorization.

use std::time::{Duration, SystemTime};

use prometheus::{Histogram, HistogramVec, IntCounter, Registry};

use super::{counters, histograms};

/// kube-apiserver's buckets, in seconds: from a millisecond on, each twice the one before.
fn seconds() -> Vec<f64> {
    (0..15).map(|step| 0.001 * f64::from(1 << step)).collect()
}

/// kube-apiserver's buckets for the time in filters, in seconds.
const FILTER_SECONDS: [f64; 13] = [
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0, 10.0, 15.0, 30.0,
];

/// kube-apiserver's buckets for the remaining lifetime of certificates, in seconds: from half an hour to a year.
const REMAINING_SECONDS: [f64; 14] = [
    0.0,
    1_800.0,
    3_600.0,
    7_200.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    345_600.0,
    604_800.0,
    2_592_000.0,
    7_776_000.0,
    15_552_000.0,
    31_104_000.0,
];

/// Users that are counted by name; all others share one label.
const USERS: [&str; 7] = [
    "admin",
    "client",
    "kube_proxy",
    "kubelet",
    "system:serviceaccount:kube-system:default",
    "email_id",
    "other",
];

/// The result of an authentication.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Credentials {
    /// The credentials belong to a user.
    Valid = 0,
    /// The request has no credentials.
    Absent = 1,
    /// The credentials are not valid.
    Invalid = 2,
}

/// The result of an authorization.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AuthorizationResult {
    /// The request is allowed.
    Allowed = 0,
    /// The request is denied.
    Denied = 1,
    /// No authorizer allows the request.
    NoOpinion = 2,
    /// The authorizer failed.
    Failed = 3,
}

/// Counts of authentications and authorizations.
#[derive(Debug)]
pub(crate) struct AccessMetrics {
    authentications: [Outcome; 3],
    authorizations: [Outcome; 4],
    users: [IntCounter; 7],
    remaining_lifetime: Histogram,
    authentication_filter: Histogram,
    authorization_filter: Histogram,
}

#[derive(Debug)]
struct Outcome {
    attempts: IntCounter,
    seconds: Histogram,
}

impl Outcome {
    fn count(&self, took: Duration) {
        self.attempts.inc();
        self.seconds.observe(took.as_secs_f64());
    }
}

impl AccessMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let attempts = counters(
            registry,
            "authentication_attempts",
            "Authenticated requests, by result.",
            &["result"],
        );
        let timed = |name: &str, help: &str| histograms(registry, name, help, &seconds(), &["result"]);
        let took = timed(
            "authentication_duration_seconds",
            "Time to authenticate a request, in seconds.",
        );
        let decisions = counters(
            registry,
            "authorization_attempts_total",
            "Authorized requests, by result.",
            &["result"],
        );
        let decided = timed(
            "authorization_duration_seconds",
            "Time to authorize a request, in seconds.",
        );
        let users = counters(
            registry,
            "authenticated_user_requests",
            "Authenticated requests by user; most users share the label `other`.",
            &["username"],
        );
        let filters: HistogramVec = histograms(
            registry,
            "apiserver_request_filter_duration_seconds",
            "Time that requests spend in filters, in seconds.",
            &FILTER_SECONDS,
            &["filter"],
        );
        let remaining_lifetime = histograms(
            registry,
            "apiserver_client_certificate_expiration_seconds",
            "Time until the certificate expires with which a request is authenticated, in seconds.",
            &REMAINING_SECONDS,
            &[],
        );
        let outcome = |attempts: &prometheus::IntCounterVec, seconds: &HistogramVec, result: &str| Outcome {
            attempts: attempts.with_label_values(&[result]),
            seconds: seconds.with_label_values(&[result]),
        };
        Self {
            authentications: ["success", "failure", "error"].map(|result| outcome(&attempts, &took, result)),
            authorizations: ["allowed", "denied", "no-opinion", "error"]
                .map(|result| outcome(&decisions, &decided, result)),
            users: USERS.map(|user| users.with_label_values(&[user])),
            remaining_lifetime: remaining_lifetime.with_label_values(&[] as &[&str]),
            authentication_filter: filters.with_label_values(&["authentication"]),
            authorization_filter: filters.with_label_values(&["authorization"]),
        }
    }

    /// Counts an authentication.
    pub(crate) fn authenticated(&self, credentials: Credentials, took: Duration) {
        self.authentications[credentials as usize].count(took);
        self.authentication_filter.observe(took.as_secs_f64());
    }

    /// Records that a request came with a trusted certificate that expires at `not_after`, or has expired.
    pub(crate) fn certificate(&self, not_after: SystemTime, now: SystemTime) {
        let remaining = match not_after.duration_since(now) {
            Ok(remaining) => remaining.as_secs_f64(),
            Err(expired) => -expired.duration().as_secs_f64(),
        };
        self.remaining_lifetime.observe(remaining);
    }

    /// Counts a request of a user.
    pub(crate) fn user(&self, name: &str) {
        let known = USERS[..5].iter().position(|user| *user == name);
        let index = known.unwrap_or(if name.contains('@') { 5 } else { 6 });
        self.users[index].inc();
    }

    /// Counts an authorization.
    pub(crate) fn authorized(&self, judgement: AuthorizationResult, took: Duration) {
        self.authorizations[judgement as usize].count(took);
        self.authorization_filter.observe(took.as_secs_f64());
    }
}
