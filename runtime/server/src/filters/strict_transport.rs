//! HSTS: browsers are to use TLS only.

use http::header::{HeaderValue, STRICT_TRANSPORT_SECURITY};

use super::{Exchange, Filter, Step};

/// Sends the `Strict-Transport-Security` header (`--strict-transport-security-directives`).
#[derive(Clone, Debug)]
pub struct StrictTransport {
    directives: HeaderValue,
}

impl StrictTransport {
    /// Returns a filter that sends these directives, e.g. `max-age=31536000,includeSubDomains,preload`.
    #[must_use]
    pub fn new(directives: HeaderValue) -> Self {
        Self { directives }
    }
}

impl Filter for StrictTransport {
    fn name(&self) -> &'static str {
        "strict-transport"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        exchange
            .headers
            .insert(STRICT_TRANSPORT_SECURITY, self.directives.clone());
        Step::Continue
    }
}
