//! Deadlines of requests.

use std::time::{Duration, Instant};

use axum::response::Response;
use planesmith_machinery::status::{ApiError, Reason};

use super::{Exchange, Failure, Filter, Step};
use crate::failure;
use crate::request::{InvalidDuration, Query, parse_duration};

/// Gives each request a deadline: `--request-timeout` after its arrival, or earlier if its `timeout` parameter requests
/// it.
///
/// Long-running requests have no deadline, so this filter comes after the one that recognizes them.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// Maximum duration of a request.
    pub limit: Duration,
}

impl Filter for Deadline {
    fn name(&self) -> &'static str {
        "deadline"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        if exchange.ctx.info.is_long_running() {
            return Step::Continue;
        }
        let query = exchange.request.uri().query().unwrap_or_default();
        let wanted = match Query::new(query).first("timeout") {
            Some(text) if !text.is_empty() => parse_duration(&text),
            _ => Ok(Duration::ZERO),
        };
        match wanted {
            Ok(Duration::ZERO) => exchange.ctx.deadline = Some(exchange.ctx.received + self.limit),
            Ok(wanted) => exchange.ctx.deadline = Some(exchange.ctx.received + wanted.min(self.limit)),
            Err(InvalidDuration(problem)) => {
                let message = format!("invalid timeout specified in the request URL - {problem}");
                return exchange.refuse(&ApiError::new(Reason::BadRequest, message));
            }
        }
        Step::Continue
    }

    /// A long-running request has no deadline for its answer only if the request succeeds: a refusal is sent in time or
    /// cut off.
    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let code = response.status();
        if exchange.ctx.deadline.is_none() && !(code.is_success() || code.is_informational()) {
            exchange.ctx.deadline = Some(Instant::now() + self.limit);
        }
    }

    fn recover(&self, exchange: &Exchange, failure: Failure) -> Result<Response, Failure> {
        let Failure::Late = failure else { return Err(failure) };
        let ctx = &exchange.ctx;
        tracing::warn!(
            request = %ctx.id,
            verb = %ctx.info.verb_text(),
            path = ctx.info.path(),
            user = ctx.user.name,
            "a request did not finish in time",
        );
        let error = ApiError::timeout("request did not complete within the allotted timeout", 0);
        Ok(failure::as_json(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::body::Body;
    use http::{Request, StatusCode};
    use planesmith_machinery::feature::Features;

    use super::*;
    use crate::connection::Connection;
    use crate::filters::ReadInfo;
    use crate::shutdown::Stop;

    #[test]
    fn a_watch_has_no_deadline_unless_it_is_refused() {
        let deadline = Deadline {
            limit: Duration::from_secs(60),
        };
        for (code, is_bounded) in [
            (StatusCode::OK, false),
            (StatusCode::SWITCHING_PROTOCOLS, false),
            (StatusCode::FORBIDDEN, true),
            (StatusCode::INTERNAL_SERVER_ERROR, true),
        ] {
            let (_stop, shutdown) = Stop::new();
            let request = Request::get("/api/v1/pods?watch=1").body(Body::empty()).unwrap();
            let mut exchange = Exchange::new(request, Arc::new(Connection::default()), shutdown, Features::default());
            assert!(matches!(ReadInfo.enter(&mut exchange), Step::Continue));
            assert!(matches!(deadline.enter(&mut exchange), Step::Continue));
            assert!(exchange.ctx.deadline.is_none());
            let mut response = Response::default();
            *response.status_mut() = code;
            deadline.leave(&mut exchange, &mut response);
            assert_eq!(exchange.ctx.deadline.is_some(), is_bounded, "{code}");
        }
    }
}
