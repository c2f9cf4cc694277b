//! The answers of one health endpoint.

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::any;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};
use planesmith_machinery::go_format::quote;

use super::HealthCheck;
use super::reports::FailureReports;
use crate::metrics::SharedMetrics;
use crate::request::decode;
use crate::response;

/// One of `/healthz`, `/livez` and `/readyz`.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    name: &'static str,
    checks: Arc<[Arc<HealthCheck>]>,
    metrics: SharedMetrics,
    reports: Arc<FailureReports>,
}

impl Endpoint {
    /// Returns the endpoint `/name`, which runs `checks` in order.
    pub(crate) fn new(name: &'static str, checks: Vec<Arc<HealthCheck>>, metrics: SharedMetrics) -> Self {
        Self {
            name,
            checks: checks.into(),
            metrics,
            reports: Arc::new(FailureReports::new()),
        }
    }

    /// Its paths: the endpoint and one below it for each check.
    pub(crate) fn paths(&self) -> Vec<String> {
        let checks = self
            .checks
            .iter()
            .map(|check| format!("/{}/{}", self.name, check.name()));
        std::iter::once(format!("/{}", self.name)).chain(checks).collect()
    }

    /// Its routes, for all methods.
    pub(crate) fn router(&self) -> Router {
        let all = self.clone();
        let root = any(move |RawQuery(query): RawQuery| async move { all.answer(&query.unwrap_or_default()).await });
        let mut router = Router::new().route(&format!("/{}", self.name), root);
        for check in self.checks.iter() {
            let path = format!("/{}/{}", self.name, check.name());
            let check = Arc::clone(check);
            router = router.route(&path, any(move || answer_one(check)));
        }
        router
    }

    async fn answer(&self, query: &str) -> Response {
        let pairs: Vec<_> = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .collect();
        let verbose = pairs.iter().any(|(name, _)| *name == "verbose");
        let excluded = pairs
            .iter()
            .filter(|(name, _)| *name == "exclude")
            .map(|(_, value)| decode(value).into_owned());
        let mut unknown: Vec<String> = excluded.collect();
        unknown.sort();
        unknown.dedup();
        let is_partial = !unknown.is_empty();
        let mut lines = String::new();
        let mut failed = String::new();
        let mut failed_names = Vec::new();
        for check in self.checks.iter() {
            let name = check.name();
            if let Some(place) = unknown.iter().position(|excluded| excluded == name) {
                unknown.remove(place);
                let _ = writeln!(lines, "[+]{name} excluded: ok");
                continue;
            }
            let found = check.run().await;
            self.metrics.observe_check(self.name, name, found.is_ok());
            match found {
                Ok(()) => {
                    let _ = writeln!(lines, "[+]{name} ok");
                }
                Err(reason) => {
                    let public_reason = if verbose && check.is_public {
                        &*reason
                    } else {
                        "reason withheld"
                    };
                    let _ = writeln!(lines, "[-]{name} failed: {public_reason}");
                    failed_names.push(name);
                    let _ = write!(failed, "{}{name}: {reason}", if failed.is_empty() { "" } else { "; " });
                }
            }
        }
        if !unknown.is_empty() {
            let names: Vec<String> = unknown.iter().map(|name| quote(name)).collect();
            let names = names.join(", ");
            let _ = writeln!(
                lines,
                "warn: some health checks cannot be excluded: no matches for {names}"
            );
        }
        let endpoint = self.name;
        if !failed.is_empty() {
            match self.reports.is_due(&failed_names) {
                true => tracing::warn!(endpoint, failed, "not healthy"),
                false => tracing::debug!(endpoint, failed, "not healthy"),
            }
            return response::plain_text(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("{lines}{endpoint} check failed\n"),
            );
        }
        if !is_partial {
            self.reports.recover();
        }
        let body = if verbose {
            format!("{lines}{endpoint} check passed\n")
        } else {
            "ok".to_owned()
        };
        response::plain_text(StatusCode::OK, body)
    }
}

async fn answer_one(check: Arc<HealthCheck>) -> Response {
    match check.run().await {
        Ok(()) => {
            let mut response = Response::new("ok".into());
            let plain = HeaderValue::from_static("text/plain; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, plain);
            response
        }
        Err(reason) => response::plain_text(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("internal server error: {reason}\n"),
        ),
    }
}
