//! Authentication of requests.

use std::sync::Arc;
use std::time::Instant;

use axum::response::Response;
use http::header::{AUTHORIZATION, CONNECTION, HeaderValue};
use planesmith_access::authentication::{
    AuthenticationResult, Authenticator, ClientCertificate, Credentials, Identity, forget_all, ignores_token,
};
use planesmith_access::outcome::Outcome;
use planesmith_machinery::status::ApiError;

use super::{Exchange, Filter, Step};
use crate::features::UNAUTHENTICATED_HTTP2_DOS_MITIGATION;
use crate::metrics::{Credentials as Judged, SharedMetrics};
use crate::request::Stage;

/// The prefix of the usual headers of proxies. They are removed even when this server does not use them, because
/// servers behind it may.
const OF_PROXIES: &str = "x-remote-";

/// The warning for a token that is not taken as one, in kube-apiserver's words.
const SPACE_BEFORE_TOKEN: &str =
    "the provided Authorization header contains extra space before the bearer token, and is ignored";

/// Authenticates the user, or answers 401.
///
/// Credentials are not passed on: the `Authorization` header and those of proxies, under all names that the
/// authenticator knows, are removed.
#[derive(Clone, Debug)]
pub struct Authentication {
    authenticator: Arc<dyn Authenticator>,
    metrics: SharedMetrics,
}

impl Authentication {
    /// Authenticates with `authenticator` and counts its results in `metrics`.
    #[must_use]
    pub fn new(authenticator: Arc<dyn Authenticator>, metrics: SharedMetrics) -> Self {
        Self { authenticator, metrics }
    }
}

impl Filter for Authentication {
    fn name(&self) -> &'static str {
        "authentication"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let begin = Instant::now();
        match self.authenticator.authenticate(&credentials(exchange)) {
            Outcome::Ready(verdict) => match self.conclude(exchange, verdict, begin) {
                None => Step::Continue,
                Some(refusal) => Step::Answer(refusal),
            },
            Outcome::Pending(verdict) => Step::Wait(Box::pin(async move {
                let verdict = verdict.await;
                self.conclude(exchange, verdict, begin)
            })),
        }
    }
}

impl Authentication {
    /// Sets the user, or returns the answer to a request that is refused.
    fn conclude(&self, exchange: &mut Exchange, verdict: AuthenticationResult, begin: Instant) -> Option<Response> {
        let (access, took) = (self.metrics.access(), begin.elapsed());
        exchange.ctx.timeline.add(Stage::Authentication, begin, took);
        if let Some(ClientCertificate::Trusted { not_after, .. }) = &exchange.connection.certificate {
            self.metrics.observe_certificate(*not_after);
        }
        match verdict {
            AuthenticationResult::User(Identity { user, remarks }) => {
                access.authenticated(Judged::Valid, took);
                access.user(&user.name);
                if user.is_anonymous() {
                    close_after(exchange);
                }
                exchange.ctx.user = user;
                for warning in remarks.iter().flat_map(|remarks| &remarks.warnings) {
                    exchange.ctx.warnings.add(*warning);
                }
                exchange.remarks = remarks;
                let headers = exchange.request.headers_mut();
                if ignores_token(headers) {
                    exchange.ctx.warnings.add(SPACE_BEFORE_TOKEN);
                }
                headers.remove(AUTHORIZATION);
                forget_all(headers, OF_PROXIES);
                self.authenticator.forget(headers);
                return None;
            }
            AuthenticationResult::NoOpinion => access.authenticated(Judged::Absent, took),
            AuthenticationResult::Invalid(reason) => {
                access.authenticated(Judged::Invalid, took);
                tracing::warn!(request = %exchange.ctx.id, peer = ?exchange.connection.peer, reason, "authentication failed");
            }
        }
        if ignores_token(exchange.request.headers()) {
            exchange.ctx.warnings.add(SPACE_BEFORE_TOKEN);
        }
        close_after(exchange);
        Some(exchange.error_answer(&ApiError::unauthorized()))
    }
}

/// Closes an HTTP/2 connection after this request: clients that are not known do not keep what is expensive to keep.
fn close_after(exchange: &mut Exchange) {
    if exchange.is_multiplexed && exchange.ctx.features.has(&UNAUTHENTICATED_HTTP2_DOS_MITIGATION) {
        exchange.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

/// The credentials of a request.
fn credentials(exchange: &Exchange) -> Credentials<'_> {
    Credentials {
        headers: exchange.request.headers(),
        path: exchange.request.uri().path(),
        certificate: exchange.connection.certificate.as_ref(),
        proxy: exchange.connection.proxy.as_ref(),
    }
}
