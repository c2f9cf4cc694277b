//! New requests to a server that stops.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http::header::{CONNECTION, HeaderValue, RETRY_AFTER, USER_AGENT};

use super::{Exchange, Filter, Step};
use crate::body::{AtEnd, Watched};
use crate::draining::{Member, RequestDrain};
use crate::response;

/// Paths that are served until the end: probes and metrics.
const SERVED: [&str; 4] = ["/readyz", "/livez", "/healthz", "/metrics"];

/// True if a request to `path` is served whatever state the server is in.
pub(super) fn is_always_served(path: &str) -> bool {
    SERVED.iter().any(|prefix| path.starts_with(prefix))
}

/// Turns new requests away with 429 while those under way are answered (`--shutdown-send-retry-after`), and counts them until then.
#[derive(Clone, Debug)]
pub struct TurnAway(pub(crate) Arc<RequestDrain>);

impl Filter for TurnAway {
    fn name(&self) -> &'static str {
        "turn-away"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        // Counted first: the server does not miss a request that it does not turn away.
        let request = (!exchange.ctx.info.is_long_running()).then(|| self.0.join());
        if self.0.turns_away() && !is_exempt(exchange) {
            let text = "The apiserver is shutting down, please try again later.\n";
            let mut answer = response::plain_text(StatusCode::TOO_MANY_REQUESTS, text);
            let headers = answer.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
            return Step::Answer(answer);
        }
        exchange.under_way = request;
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let Some(request) = exchange.under_way.take() else {
            return;
        };
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = Body::new(Watched::new(body, request));
    }
}

/// True if the request is served until the end: from inside the process, of another kube-apiserver, or of a probe.
fn is_exempt(exchange: &Exchange) -> bool {
    let agent = exchange.request.headers().get(USER_AGENT);
    exchange.connection.peer.is_none()
        || agent.is_some_and(|agent| agent.as_bytes().starts_with(b"kube-apiserver/"))
        || is_always_served(exchange.ctx.info.path())
}

impl AtEnd for Member {
    /// Dropping it ends the request.
    fn at_end(self) {}
}
