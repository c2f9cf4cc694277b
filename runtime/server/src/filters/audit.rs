//! The audit record of a request, from its arrival to the end of its answer.

mod answer;
mod objects;
mod source;

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http_body::Body as _;
use planesmith_access::audit::{Annotations, Failed, Level, Stage};
use planesmith_access::outcome::Outcome;
use planesmith_access::user::UserInfo;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::ApiError;

use self::answer::observe;
pub(crate) use self::source::Origin;
use super::authorization::target;
use super::{Exchange, Failure, Filter, Step};
use crate::audit::{Audit, AuditRecord, Head, RecordedRequest};
use crate::body::{AtEnd, Watched};

/// Records requests that are answered before their user is known: those with refused credentials or an invalid deadline.
///
/// It stands in front of the filters that refuse them, and does nothing for requests that reach [`Auditing`].
#[derive(Clone, Debug)]
pub struct AuditOfRefused(pub Arc<AuditContext>);

/// Records requests whose user is known; impersonation comes later.
#[derive(Clone, Debug)]
pub struct Auditing(pub Arc<AuditContext>);

/// Notes the objects of answers before they are compressed.
#[derive(Clone, Debug)]
pub struct AuditOfAnswers(pub Arc<AuditContext>);

/// The audit, and the declared kinds, whose answers in protobuf are recorded in JSON.
#[derive(Debug)]
pub struct AuditContext {
    /// The policy and the sinks.
    pub audit: Arc<Audit>,
    /// The declared kinds.
    pub scheme: Arc<Scheme>,
}

impl Filter for AuditOfRefused {
    fn name(&self) -> &'static str {
        "audit-refused"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        // The request is moved to the handler, or dropped with a refusal.
        exchange.audited = Some(Origin::of(&exchange.request));
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let Some(origin) = exchange.audited.take() else { return };
        if let Some(record) = begin(&self.0.audit, exchange, &origin, None) {
            observe(&record, response, &exchange.ctx.features, &self.0.scheme);
            record.refuse();
        }
    }
}

impl Filter for Auditing {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let Some(origin) = exchange.audited.take() else {
            return Step::Continue;
        };
        let user = Arc::clone(&exchange.ctx.user);
        let Some(record) = begin(&self.0.audit, exchange, &origin, Some(user)) else {
            return Step::Continue;
        };
        for (key, value) in exchange.remarks.iter().flat_map(|remarks| &remarks.annotations) {
            exchange.ctx.annotations.add(*key, value.as_str());
        }
        let received = record.receive();
        exchange.ctx.audit = Some(record);
        match received {
            Outcome::Ready(received) => match self.conclude(exchange, received) {
                None => Step::Continue,
                Some(refusal) => Step::Answer(refusal),
            },
            Outcome::Pending(recording) => Step::Wait(Box::pin(async move {
                let received = recording.await;
                self.conclude(exchange, received)
            })),
        }
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let Some(record) = exchange.ctx.audit.take() else {
            return;
        };
        observe(&record, response, &exchange.ctx.features, &self.0.scheme);
        if record.is_long_running() {
            record.start();
        }
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            // The streams of the connection go on with copies of the record; the last one ends it.
            return;
        }
        // A complete body is as good as sent, unless its object is read while it is sent.
        let is_sent = response.body().size_hint().exact().is_some() && !record.awaits_answer();
        if is_sent && !record.is_long_running() {
            exchange.recording = record.begin_completion();
            return;
        }
        // The client decides how long the rest takes.
        record.record_arrival();
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = Body::new(Watched::new(body, EndOfRecord(record)));
    }

    fn recover(&self, exchange: &Exchange, failure: Failure) -> Result<Response, Failure> {
        if let Some(record) = &exchange.ctx.audit {
            match failure {
                Failure::Panicked(_) => record.panic(),
                Failure::Late => record.late(),
            }
        }
        Err(failure)
    }
}

impl Auditing {
    /// Returns the answer to a request whose arrival had to be recorded and is not.
    fn conclude(&self, exchange: &mut Exchange, received: Result<(), Failed>) -> Option<Response> {
        let failed = received.err()?;
        tracing::error!(request = %exchange.ctx.id, %failed, "a request is refused: it cannot be recorded");
        self.0.audit.meter.rejected();
        Some(exchange.error_answer(&ApiError::internal("failed to store audit event")))
    }
}

impl Filter for AuditOfAnswers {
    fn name(&self) -> &'static str {
        "audit-answers"
    }

    fn enter<'a>(&'a self, _: &'a mut Exchange) -> Step<'a> {
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        if let Some(record) = &exchange.ctx.audit {
            observe(record, response, &exchange.ctx.features, &self.0.scheme);
        }
    }
}

/// Ends a record with the last byte of the answer.
struct EndOfRecord(Arc<AuditRecord>);

impl AtEnd for EndOfRecord {
    fn at_end(self) {
        self.0.complete();
    }
}

/// Begins the record of a request, if the policy selects it.
fn begin(
    audit: &Arc<Audit>,
    exchange: &mut Exchange,
    origin: &Origin,
    user: Option<Arc<UserInfo>>,
) -> Option<Arc<AuditRecord>> {
    let ctx = &mut exchange.ctx;
    let verb = ctx.info.verb_text();
    let decision = audit.decide(user.as_deref(), &verb, &target(&ctx.info));
    if decision.level == Level::None {
        return None;
    }
    if user.is_none() && decision.omitted_stages.contains(Stage::ResponseStarted) {
        return None;
    }
    ctx.annotations = Annotations::recorded(decision.level);
    let received = audit.clock.now() - ctx.received.elapsed();
    let head = Head {
        id: ctx.id.to_string(),
        uri: origin.uri().clone(),
        request: Arc::clone(&ctx.info) as Arc<dyn RecordedRequest>,
        user,
        source_ips: origin.source_ips(ctx.peer),
        agent: ctx.agent.clone(),
        received: received.into(),
    };
    let record = AuditRecord::new(audit, decision, head, ctx.annotations.clone());
    Some(Arc::new(record))
}

#[cfg(test)]
mod tests;
