//! Who asks.

use std::sync::Arc;
use std::time::Instant;

use http::header::AUTHORIZATION;
use planesmith_access::authentication::{Authenticator, Credentials, Verdict, forget_all};
use planesmith_machinery::status::ApiError;

use super::{Exchange, Filter, Step};
use crate::metrics::{Credentials as Judged, SharedMetrics};
use crate::request::Stage;

/// What the usual headers of proxies start with: they mean something to others even when they mean nothing here.
const OF_PROXIES: &str = "x-remote-";

/// Finds out who asks, or answers 401.
///
/// Credentials do not travel further: the `Authorization` header and those of proxies, by all names that the authenticator
/// knows, are gone afterwards.
#[derive(Clone, Debug)]
pub struct Authentication {
    authenticator: Arc<dyn Authenticator>,
    metrics: SharedMetrics,
}

impl Authentication {
    /// Asks `authenticator`, and counts in `metrics` what it says.
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
                access.authenticated(Judged::Known, took);
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
