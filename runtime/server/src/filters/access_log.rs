//! An access log with one line per request.

use axum::response::Response;
use http::header::USER_AGENT;

use super::{Exchange, Filter, Step};

/// Logs each request under the target `http` at debug level: method, path, user, duration and result.
#[derive(Clone, Copy, Debug)]
pub struct AccessLog;

impl Filter for AccessLog {
    fn name(&self) -> &'static str {
        "access-log"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        exchange.ctx.agent = exchange.request.headers().get(USER_AGENT).cloned();
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let ctx = &exchange.ctx;
        tracing::debug!(
            target: "http",
            verb = %ctx.info.verb_text(),
            path = ctx.info.path(),
            code = response.status().as_u16(),
            user = ctx.user.name,
            agent = ctx.agent.as_ref().and_then(|agent| agent.to_str().ok()),
            peer = exchange.connection.peer.map(tracing::field::display),
            request = %ctx.id,
            micros = u64::try_from(ctx.received.elapsed().as_micros()).unwrap_or(u64::MAX),
            "request",
        );
    }
}
