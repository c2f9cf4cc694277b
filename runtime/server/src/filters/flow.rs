//! Which flow a request belongs to, which clients see in headers.

use std::fmt;
use std::sync::Arc;

use http::header::{HeaderName, HeaderValue};
use planesmith_access::user::UserInfo;

use super::{Exchange, Filter, Step};
use crate::request::{RequestInfo, Verb};

const SCHEMA: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const LEVEL: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");

/// Tells flows of requests apart.
pub trait Flows: fmt::Debug + Send + Sync {
    /// The flow of a request; `None` when it is of none.
    fn of(&self, user: &UserInfo, info: &RequestInfo) -> Option<Flow>;
}

/// What divides the server's capacity between requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Identity of what the request was recognized by.
    pub schema: HeaderValue,
    /// Identity of the level that it is served at.
    pub level: HeaderValue,
}

/// Names the flow of each request in the answer's headers. Long-running requests have none, but for watches.
#[derive(Clone, Debug)]
pub struct FlowHeaders {
    flows: Arc<dyn Flows>,
}

impl FlowHeaders {
    /// Asks `flows`.
    #[must_use]
    pub fn new(flows: Arc<dyn Flows>) -> Self {
        Self { flows }
    }
}

impl Filter for FlowHeaders {
    fn name(&self) -> &'static str {
        "flow-headers"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let ctx = &exchange.ctx;
        if ctx.info.is_long_running() && ctx.info.verb() != Verb::Watch {
            return Step::Continue;
        }
        if let Some(flow) = self.flows.of(&ctx.user, &ctx.info) {
            exchange.headers.insert(SCHEMA, flow.schema);
            exchange.headers.insert(LEVEL, flow.level);
        }
        Step::Continue
    }
}
