//! The filters that every request passes before and after it is handled.
//!
//! `lifecycle/config` builds the list of a server, in request order, with those that a program adds; a test in
//! `lifecycle/tests/answers` records the names so that a change of order shows in review. A header of every answer is put into [`Exchange::headers`] by `enter`; a header that
//! depends on the answer is added by `leave`. Only the outermost server of a chain has filters.
//!
//! A filter is two plain functions instead of a wrapped service: entering and leaving costs no allocation and no boxed
//! future, and a filter that must wait returns [`Step::Wait`].

mod access_log;
mod added;
mod audit;
mod authentication;
mod authorization;
mod cache_control;
mod compress;
mod cors;
mod count;
mod deadline;
mod flow_control;
mod goaway;
mod impersonation;
mod in_flight;
mod not_ready;
mod panic_guard;
mod request_id;
mod request_info;
mod sending;
mod slow_requests;
mod strict_transport;
mod trace;
mod turn_away;
mod warning_headers;

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use futures_util::FutureExt;
use http::{HeaderMap, Request, StatusCode, Version};
use planesmith_access::audit::Recording;
use planesmith_access::authentication::Remarks;
use planesmith_access::outcome::Outcome;
use planesmith_machinery::feature::Features;
use planesmith_machinery::status::ApiError;
use tower::Service;

pub use self::access_log::AccessLog;
pub use self::added::{AddedFilter, FilterPlace};
pub use self::audit::{AuditContext, AuditOfAnswers, AuditOfRefused, Auditing};
pub use self::authentication::Authentication;
pub use self::authorization::{Authorization, refusal};
pub use self::cache_control::CacheControl;
pub use self::compress::Compress;
pub use self::cors::{Cors, CorsPatternError};
pub use self::count::Count;
pub use self::deadline::Deadline;
pub use self::flow_control::FlowControlled;
pub(crate) use self::flow_control::ServedObjects;
pub use self::goaway::GoAway;
pub use self::impersonation::Impersonation;
pub use self::not_ready::NotReady;
pub use self::panic_guard::PanicGuard;
pub use self::request_id::AssignId;
pub use self::request_info::ReadInfo;
pub use self::sending::Sending;
pub use self::slow_requests::SlowRequests;
pub use self::strict_transport::StrictTransport;
pub use self::trace::Trace;
pub use self::turn_away::TurnAway;
pub use self::warning_headers::WarningHeaders;

use self::audit::Origin;
use self::trace::Traced;
use crate::audit::AuditRecord;
use crate::connection::Connection;
use crate::draining::Member;
use crate::failure;
use crate::flow_control::Flow;
use crate::in_flight::Permit;
use crate::metrics::LabelSource;
use crate::request::{Context, routed};
use crate::response;
use crate::sending::Answer;
use crate::shutdown::Shutdown;

/// One step of the processing of every request.
pub trait Filter: Send + Sync {
    /// Name in the recorded order.
    fn name(&self) -> &'static str;

    /// Processes the request before the filters behind; may change it, add to its context or answer it.
    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a>;

    /// Processes the answer after the filters behind. Runs for each filter that was entered, in reverse order.
    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let _ = (exchange, response);
    }

    /// Turns a failure further in into an answer, or passes the failure on to the filters further out.
    ///
    /// # Errors
    ///
    /// The failure, when this filter does not handle it.
    fn recover(&self, exchange: &Exchange, failure: Failure) -> Result<Response, Failure> {
        let _ = exchange;
        Err(failure)
    }
}

impl fmt::Debug for dyn Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The continuation after a filter.
#[must_use]
pub enum Step<'a> {
    /// Continue with the next filter.
    Continue,
    /// Stop with this answer.
    Answer(Response),
    /// Wait for the future: it returns an answer, or `None` to continue with the next filter.
    Wait(Pin<Box<dyn Future<Output = Option<Response>> + Send + 'a>>),
}

/// The reason that there is no answer.
pub enum Failure {
    /// A filter or handler further in panicked.
    Panicked(Box<dyn Any + Send>),
    /// The deadline has passed.
    Late,
}

/// One request and its answer, as filters see them.
#[derive(Debug)]
pub struct Exchange {
    /// The request; empty once the handler has it.
    pub request: Request<Body>,
    /// The context that travels with the request.
    pub ctx: Context,
    /// The connection that the request came from.
    pub connection: Arc<Connection>,
    /// Headers that are added to the answer unless the handler sets them.
    pub headers: HeaderMap,
    /// The flow of the request, which is added to the headers of the answer likewise.
    pub(crate) flow: Flow,
    /// The permit of a request in flight, released when the answer is sent or the client has disconnected.
    pub permit: Option<Permit>,
    /// The labels that the request is counted under.
    pub(crate) marks: LabelSource,
    /// The data for the tracing system.
    pub(crate) traced: Option<Traced>,
    /// The data for the audit record, until it begins.
    pub(crate) audited: Option<Origin>,
    /// Records the end of the request, which the answer waits for.
    pub(crate) recording: Recording,
    /// Remarks about the credentials of the request, for its audit event.
    pub(crate) remarks: Option<Arc<Remarks>>,
    /// Counts the request until it is answered, in a server that waits for it when it stops.
    pub(crate) under_way: Option<Member>,
    /// True if the answer may be compressed.
    pub(crate) gzip: bool,
    /// True if the connection sends several answers at once, as HTTP/2 does.
    pub(crate) is_multiplexed: bool,
}

impl Exchange {
    /// Returns the exchange of a request that has just arrived at a server with `features`.
    #[must_use]
    pub fn new(request: Request<Body>, connection: Arc<Connection>, shutdown: Shutdown, features: Features) -> Self {
        let ctx = Context {
            features,
            peer: connection.peer.map(|peer| peer.ip()),
            ..Context::unknown(shutdown)
        };
        Self {
            is_multiplexed: request.version() == Version::HTTP_2,
            request,
            ctx,
            connection,
            headers: HeaderMap::new(),
            flow: Flow::default(),
            permit: None,
            marks: LabelSource::default(),
            traced: None,
            audited: None,
            recording: Outcome::Ready(Ok(())),
            remarks: None,
            under_way: None,
            gzip: false,
        }
    }

    /// Stops with an error answer.
    pub fn refuse<'a>(&mut self, error: &ApiError) -> Step<'a> {
        Step::Answer(self.error_answer(error))
    }

    /// An error answer, in the encoding that the client accepts.
    pub fn error_answer(&mut self, error: &ApiError) -> Response {
        let (mut request, _) = std::mem::take(&mut self.request).into_parts();
        // The features determine which encodings the client may have.
        request.extensions.insert(self.ctx.clone());
        failure::respond(&request, error)
    }
}

/// The list of filters, in request order.
#[derive(Debug)]
pub struct Filters {
    list: Vec<Arc<dyn Filter>>,
}

impl Filters {
    /// Returns a list of these filters, in request order.
    #[must_use]
    pub fn new(list: Vec<Arc<dyn Filter>>) -> Self {
        Self { list }
    }

    /// Names in request order.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.list.iter().map(|filter| filter.name()).collect()
    }

    /// Passes a request through the filters to `handler`, and the answer back. Sending the answer may take until the
    /// request's deadline.
    pub async fn serve(&self, mut exchange: Exchange, handler: &Router) -> Answer {
        let mut entered = 0;
        let record = OnceLock::new();
        let inside = AssertUnwindSafe(self.advance(&mut exchange, &mut entered, &record, handler));
        let mut outcome = match recording_waits(inside.catch_unwind(), &record).await {
            Ok(outcome) => outcome,
            Err(panic) => Err(Failure::Panicked(panic)),
        };
        let is_late = matches!(outcome, Err(Failure::Late));
        for filter in self.list[..entered].iter().rev() {
            outcome = outcome.or_else(|failure| filter.recover(&exchange, failure));
            if let Ok(response) = &mut outcome {
                filter.leave(&mut exchange, response);
            }
        }
        let mut response = match outcome {
            Ok(response) => response,
            Err(Failure::Late) => response::plain_text(StatusCode::GATEWAY_TIMEOUT, ""),
            Err(Failure::Panicked(panic)) => resume_unwind(panic),
        };
        for (name, value) in std::mem::take(&mut exchange.headers) {
            if let Some(name) = name {
                response.headers_mut().entry(name).or_insert(value);
            }
        }
        std::mem::take(&mut exchange.flow).add_to(response.headers_mut());
        if let Err(failed) = std::mem::replace(&mut exchange.recording, Ok(()).into()).wait().await {
            tracing::warn!(request = %exchange.ctx.id, %failed, "an audit event was not recorded");
        }
        Answer::due(response, exchange.ctx.deadline, is_late)
    }

    /// Passes the request inwards. Counts the filters that were entered, even if its future is dropped, and sets the record of
    /// the request once it has begun.
    async fn advance(
        &self,
        exchange: &mut Exchange,
        entered: &mut usize,
        record: &OnceLock<Arc<AuditRecord>>,
        handler: &Router,
    ) -> Result<Response, Failure> {
        for filter in &self.list {
            *entered += 1;
            let deadline = exchange.ctx.deadline;
            let answer = match filter.enter(exchange) {
                Step::Continue => None,
                Step::Answer(response) => Some(response),
                Step::Wait(answer) => within(deadline, answer).await?,
            };
            if let Some(response) = answer {
                return Ok(response);
            }
            if let (Some(begun), None) = (&exchange.ctx.audit, record.get()) {
                // Empty until now.
                let _ = record.set(Arc::clone(begun));
            }
        }
        let mut request = std::mem::take(&mut exchange.request);
        if let Some(uri) = routed(request.uri(), &exchange.ctx.info) {
            *request.uri_mut() = uri;
        }
        request.extensions_mut().insert(exchange.ctx.clone());
        let answer = within(exchange.ctx.deadline, handler.clone().call(request)).await?;
        Ok(answer.unwrap_or_else(|never| match never {}))
    }
}

/// Waits for `inside`. A request that has to wait has its arrival recorded at once.
async fn recording_waits<F: Future>(inside: F, record: &OnceLock<Arc<AuditRecord>>) -> F::Output {
    let mut inside = pin!(inside);
    poll_fn(|cx| {
        let polled = inside.as_mut().poll(cx);
        if let (Poll::Pending, Some(record)) = (&polled, record.get()) {
            record.record_arrival();
        }
        polled
    })
    .await
}

/// Waits until `deadline` at most. A future that is ready at once costs no timer.
async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Result<F::Output, Failure> {
    match deadline {
        None => Ok(future.await),
        Some(deadline) => tokio::time::timeout_at(deadline.into(), future)
            .await
            .map_err(|_| Failure::Late),
    }
}

impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Panicked(_) => f.write_str("Panicked"),
            Failure::Late => f.write_str("Late"),
        }
    }
}

impl std::fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Step::Continue => f.write_str("Continue"),
            Step::Answer(response) => write!(f, "Answer({})", response.status()),
            Step::Wait(_) => f.write_str("Wait"),
        }
    }
}

#[cfg(test)]
mod tests;
