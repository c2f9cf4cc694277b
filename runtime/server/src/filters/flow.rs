//! The flow of a request, which clients see in headers.

use std::fmt;
use std::sync::Arc;

use http::header::{HeaderName, HeaderValue};
use planesmith_access::user::UserInfo;

use super::{Exchange, Filter, Step};
use crate::request::{RequestInfo, Verb};

const SCHEMA: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const LEVEL: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");

/// Classifies requests into flows.
pub trait Flows: fmt::Debug + Send + Sync {
    /// The flow of a request; `None` when no flow matches.
    fn of(&self, user: &UserInfo, info: &RequestInfo) -> Option<Flow>;
}

/// The flow schema and the priority level of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// UID of the flow schema that matched the request.
    pub schema: HeaderValue,
    /// UID of the priority level that serves the request.
    pub level: HeaderValue,
}

/// Names the flow of each request in the answer's headers. Long-running requests other than watches get none.
#[derive(Clone, Debug)]
pub struct FlowHeaders {
    flows: Arc<dyn Flows>,
}

impl FlowHeaders {
    /// Classifies with `flows`.
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
