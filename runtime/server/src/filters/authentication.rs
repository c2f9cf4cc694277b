//! Who asks.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use planesmith_access::authentication::{Authenticator, Credentials, Verdict};
use planesmith_machinery::status::ApiError;

use super::{Exchange, Filter, Step};

/// Finds out who asks, or answers 401.
///
/// Tokens do not travel further: the `Authorization` header is gone afterwards.
#[derive(Clone, Debug)]
pub struct Authentication {
    authenticator: Arc<dyn Authenticator>,
}

impl Authentication {
    /// Asks `authenticator`.
    #[must_use]
    pub fn new(authenticator: Arc<dyn Authenticator>) -> Self {
        Self { authenticator }
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
        };
        match self.authenticator.authenticate(&credentials) {
            Verdict::User(user) => {
                exchange.ctx.user = user;
                exchange.request.headers_mut().remove(AUTHORIZATION);
                return Step::Continue;
            }
            Verdict::NoOpinion => {}
            Verdict::Invalid(reason) => {
                tracing::warn!(request = %exchange.ctx.id, peer = ?exchange.connection.peer, reason, "authentication failed");
            }
        }
        exchange.refuse(&ApiError::unauthorized())
    }
}
