//! Spans of requests for a tracing system.

use std::sync::Arc;
use std::time::Instant;

use axum::response::Response;
use planesmith_access::user::{PRIVILEGED_GROUP, UserInfo};
use planesmith_machinery::clock::Clock;

use super::{Exchange, Filter, Step};
use crate::request::RequestInfo;
use crate::trace::{TraceParent, TracedRequest, Tracer};

/// The group of monitoring systems.
const MONITORING_GROUP: &str = "system:monitoring";

/// Passes requests to a tracing system when they are answered.
///
/// Clients of the privileged groups decide by their headers if a request is recorded. Requests of other clients are
/// recorded as configured, so that no client can make the server record everything.
#[derive(Clone, Debug)]
pub struct Trace {
    tracer: Arc<dyn Tracer>,
    clock: Arc<dyn Clock>,
}

impl Trace {
    /// Passes requests to `tracer`, with times of `clock`.
    #[must_use]
    pub fn new(tracer: Arc<dyn Tracer>, clock: Arc<dyn Clock>) -> Self {
        Self { tracer, clock }
    }
}

impl Filter for Trace {
    fn name(&self) -> &'static str {
        "trace"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let target = exchange.request.uri().path_and_query();
        exchange.traced = Some(Traced {
            parent: TraceParent::from_headers(exchange.request.headers()),
            target: target.cloned(),
        });
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let Some(Traced { parent, target }) = exchange.traced.take() else {
            return;
        };
        let ctx = &exchange.ctx;
        let trusted = is_trusted(&ctx.user);
        if !self.tracer.samples(parent.as_ref().filter(|_| trusted)) {
            return;
        }
        let answered = Instant::now();
        let method = ctx.info.method().as_str();
        self.tracer.record(TracedRequest {
            name: name_of(&ctx.info),
            method: method.to_owned(),
            target: target.map(|target| target.to_string()).unwrap_or_default(),
            id: ctx.id.to_string(),
            code: response.status().as_u16(),
            parent,
            trusted,
            received: ctx.received,
            received_at: self.clock.now() - (answered - ctx.received),
            answered,
            steps: ctx.timeline.steps(),
        });
    }
}

/// Tracing data of a request until it is answered.
#[derive(Debug)]
pub(crate) struct Traced {
    parent: Option<TraceParent>,
    target: Option<http::uri::PathAndQuery>,
}

fn is_trusted(user: &UserInfo) -> bool {
    user.is_in(PRIVILEGED_GROUP) || user.is_in(MONITORING_GROUP)
}

/// The method and, for resources, the path with placeholders.
fn name_of(info: &RequestInfo) -> String {
    let mut name = info.method().to_string();
    if !info.is_resource() {
        return name;
    }
    let mut push = |part: &str| {
        if !part.is_empty() {
            name.push('/');
            name.push_str(part);
        }
    };
    push(info.prefix());
    push(info.group());
    push(info.version());
    if !info.namespace().is_empty() {
        push("namespaces/{:namespace}");
    }
    push(info.resource());
    if !info.name().is_empty() {
        push("{:name}");
    }
    push(info.subresource());
    let slash = name.find('/').unwrap_or(name.len());
    name.insert(slash, ' ');
    name
}

#[cfg(test)]
mod tests {
    use http::{Method, Uri};

    use super::*;

    #[test]
    fn names_have_placeholders() {
        for (path, expected) in [
            ("/healthz", "GET"),
            (
                "/api/v1/namespaces/a/pods/b/log",
                "GET /api/v1/namespaces/{:namespace}/pods/{:name}/log",
            ),
            ("/apis/apps/v1/deployments", "GET /apis/apps/v1/deployments"),
        ] {
            let info = RequestInfo::new(&Method::GET, &Uri::from_static(path));
            assert_eq!(name_of(&info), expected);
        }
    }
}
