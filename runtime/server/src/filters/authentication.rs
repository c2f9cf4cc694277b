//! Authentication of requests.

use std::sync::Arc;
use std::time::Instant;

use http::header::AUTHORIZATION;
use planesmith_access::authentication::{Authenticator, Credentials, Verdict, forget_all};
use planesmith_machinery::status::ApiError;

use super::{Exchange, Filter, Step};
use crate::metrics::{Credentials as Judged, SharedMetrics};
use crate::request::Stage;

/// The prefix of the usual headers of proxies. They are removed even when this server does not use them, because
/// servers behind it may.
const OF_PROXIES: &str = "x-remote-";

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
        let credentials = Credentials {
            headers: exchange.request.headers(),
            certificate: exchange.connection.certificate.as_ref(),
            proxy: exchange.connection.proxy.as_ref(),
        };
        let begin = Instant::now();
        let verdict = self.authenticator.authenticate(&credentials);
        let (access, took) = (self.metrics.access(), begin.elapsed());
        exchange.ctx.timeline.add(Stage::Authentication, begin, took);
        match verdict {
            Verdict::User(user) => {
                access.authenticated(Judged::Valid, took);
                access.user(&user.name);
                exchange.ctx.user = user;
                let headers = exchange.request.headers_mut();
                headers.remove(AUTHORIZATION);
                forget_all(headers, OF_PROXIES);
                self.authenticator.forget(headers);
                return Step::Continue;
            }
            Verdict::NoOpinion => access.authenticated(Judged::Absent, took),
            Verdict::Invalid(reason) => {
                access.authenticated(Judged::Invalid, took);
                tracing::warn!(request = %exchange.ctx.id, peer = ?exchange.connection.peer, reason, "authentication failed");
            }
        }
        exchange.refuse(&ApiError::unauthorized())
    }
}
