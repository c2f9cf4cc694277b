//! Requests to a server that has not been ready yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER};

use super::turn_away::is_always_served;
use super::{Exchange, Filter, Step};
use crate::response;

/// The user of requests that servers send to themselves.
const OWN_USER: &str = "system:apiserver";
/// The group whose members may look at a server that does not get ready.
const DEBUGGERS: &str = "system:openshift:risky-not-ready-microshift-debugging-group";

/// Refuses requests with 503 until the server was ready once (`--send-retry-after-while-not-ready-once`): they would find a cluster
/// without its initial objects. Probes, metrics and the server's own requests are served.
#[derive(Clone, Debug)]
pub struct NotReady {
    /// True once the server was ready.
    pub was_ready: Arc<AtomicBool>,
}

impl Filter for NotReady {
    fn name(&self) -> &'static str {
        "not-ready"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        if self.was_ready.load(Ordering::Acquire) || exchange.connection.peer.is_none() {
            return Step::Continue;
        }
        let ctx = &exchange.ctx;
        if ctx.user.name == OWN_USER || ctx.user.is_in(DEBUGGERS) || is_always_served(ctx.info.path()) {
            ctx.warnings
                .add("The apiserver was still initializing, while this request was being served");
            return Step::Continue;
        }
        let text = "The apiserver hasn't been fully initialized yet, please try again later.\n";
        let mut answer = response::plain_text(StatusCode::SERVICE_UNAVAILABLE, text);
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
        Step::Answer(answer)
    }
}
