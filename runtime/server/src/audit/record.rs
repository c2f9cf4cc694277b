//! The record of one request.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;
use planesmith_access::audit::{
    Annotations, AuditDecision, Event, Failed, Level, ObjectReference, Recording, Stage, without_managed_fields,
};
use planesmith_access::user::UserInfo;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{json, meta};

use super::Audit;
use super::head::{Head, HeadTexts};

/// The message of a request whose client disconnected before there was an answer.
const CLOSED_EARLY: &str = "Connection closed early";

/// The record of one request that the policy selects. Dropping it records the end of the request, if nothing has before.
///
/// The arrival of a read is held back and recorded together with its end, in one call of the sinks, or as soon as the request waits
/// for something. Nothing is held back for a strict sink, nor for requests that change something or last.
#[derive(Debug)]
pub(crate) struct AuditRecord {
    audit: Arc<Audit>,
    decision: AuditDecision,
    head: Head,
    annotations: Annotations,
    // Locked for a few assignments, or while an event is passed to sinks, which no other part of the request waits for.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The arrival, while it is held back.
    arrival: Option<Arrival>,
    impersonated: Option<Arc<UserInfo>>,
    constraint: String,
    sent: SentNames,
    request_object: Vec<u8>,
    response_object: Vec<u8>,
    status: Cow<'static, [u8]>,
    code: u16,
    is_observed: bool,
    awaits_answer: bool,
    is_complete: bool,
}

/// An arrival that is not recorded yet.
#[derive(Debug)]
struct Arrival {
    /// The annotations at that time; `None` if there were none.
    annotations: Option<Arc<AnnotationTexts>>,
}

type AnnotationTexts = BTreeMap<Cow<'static, str>, String>;

/// The parts of the target that only the sent object names; empty until it is read.
#[derive(Debug, Default)]
struct SentNames {
    namespace: String,
    name: String,
    uid: String,
    resource_version: String,
}

impl AuditRecord {
    pub(crate) fn new(audit: &Arc<Audit>, decision: AuditDecision, head: Head, annotations: Annotations) -> Self {
        Self {
            audit: Arc::clone(audit),
            decision,
            head,
            annotations,
            state: Mutex::default(),
        }
    }

    /// The level of the record.
    pub(crate) fn level(&self) -> Level {
        self.decision.level
    }

    /// True if the object of the answer is recorded.
    pub(crate) fn wants_answer(&self) -> bool {
        self.level() == Level::RequestResponse
    }

    /// True if the answer may be a Status although the request succeeds, as that to a deletion.
    pub(crate) fn may_answer_status(&self) -> bool {
        !matches!(&*self.head.request.verb(), "get" | "list" | "watch")
    }

    /// True if the client decides how long the answer lasts.
    pub(crate) fn is_long_running(&self) -> bool {
        self.head.request.is_long_running()
    }

    /// Notes the user for whom the request is performed, and the rule of constrained impersonation that allows it.
    pub(crate) fn impersonate(&self, user: &Arc<UserInfo>, constraint: &str) {
        self.with(|state| {
            state.impersonated = Some(Arc::clone(user));
            constraint.clone_into(&mut state.constraint);
        });
    }

    /// Completes the target from the metadata of the sent object.
    pub(crate) fn refer(&self, meta: &ObjectMeta) {
        self.with(|state| {
            for (known, sent) in [
                (&mut state.sent.namespace, &meta.namespace),
                (&mut state.sent.name, &meta.name),
                (&mut state.sent.uid, &meta.uid),
                (&mut state.sent.resource_version, &meta.resource_version),
            ] {
                if known.is_empty() {
                    known.clone_from(sent);
                }
            }
        });
    }

    /// Records the object of the request, in JSON.
    pub(crate) fn request_object(&self, object: Vec<u8>) {
        let object = self.final_form(object);
        self.with(|state| state.request_object = object);
    }

    /// Records the object of the answer, in JSON.
    pub(crate) fn response_object(&self, object: Vec<u8>) {
        let object = self.final_form(object);
        self.with(|state| state.response_object = object);
    }

    /// Notes that the object of the answer is complete only when its body was sent.
    pub(crate) fn await_answer(&self) {
        self.with(|state| state.awaits_answer = true);
    }

    /// True if the object of the answer is read while its body is sent.
    pub(crate) fn awaits_answer(&self) -> bool {
        self.with(|state| state.awaits_answer)
    }

    /// Notes that the object of the answer is too large.
    pub(crate) fn omit_answer(&self) {
        self.annotations.add("audit.k8s.io/truncated", "true");
    }

    /// True once; further observers of the answer have nothing to do.
    pub(crate) fn begin_observation(&self) -> bool {
        self.with(|state| !std::mem::replace(&mut state.is_observed, true))
    }

    /// Records the result, which is described by `status` if the answer is a Status.
    pub(crate) fn result(&self, code: StatusCode, status: Option<meta::Status>) {
        let status = status_of(code.as_u16(), status);
        self.with(|state| {
            state.code = code.as_u16();
            state.status = status;
        });
    }

    fn final_form(&self, object: Vec<u8>) -> Vec<u8> {
        match self.decision.omit_managed_fields {
            true => without_managed_fields(&object),
            false => object,
        }
    }

    /// Begins to record the arrival, or holds it back. The outcome is an error if a strict sink has not recorded it, so that the
    /// request must be refused.
    pub(crate) fn receive(&self) -> Recording {
        if self.decision.omitted_stages.contains(Stage::RequestReceived) {
            return Ok(()).into();
        }
        let annotations = Some(self.annotations.collected()).filter(|texts| !texts.is_empty());
        let arrival = Arrival { annotations };
        let request = &self.head.request;
        if !request.is_mutating() && !request.is_long_running() && !self.audit.is_strict() {
            self.with(|state| state.arrival = Some(arrival));
            return Ok(()).into();
        }
        self.with(|state| {
            let texts = HeadTexts::of(&self.head);
            self.audit.begin(&[self.arrival_event(&texts, &arrival, state)])
        })
    }

    /// Records the arrival if it is held back: the request takes longer.
    pub(crate) fn record_arrival(&self) {
        self.lossy(|state| match state.arrival.take() {
            Some(arrival) => self.send_arrival(&arrival, state),
            None => Ok(()),
        });
    }

    /// Records the start of an answer that may last.
    pub(crate) fn start(&self) {
        self.lossy(|state| self.send(Stage::ResponseStarted, state));
    }

    /// Records the refusal of the credentials, or of a request that could not be read: its only event.
    pub(crate) fn refuse(&self) {
        self.lossy(|state| match std::mem::replace(&mut state.is_complete, true) {
            true => Ok(()),
            false => self.send(Stage::ResponseStarted, state),
        });
    }

    /// Records the end of the request, unless that is recorded.
    pub(crate) fn complete(&self) {
        self.end(Stage::ResponseComplete);
    }

    /// Begins to record the end of the request, unless that is recorded.
    pub(crate) fn begin_completion(&self) -> Recording {
        self.with(|state| match std::mem::replace(&mut state.is_complete, true) {
            true => Ok(()).into(),
            false => self.events_to(Stage::ResponseComplete, state, |events| self.audit.begin(events)),
        })
    }

    /// Records that the handler panicked.
    pub(crate) fn panic(&self) {
        self.result(StatusCode::INTERNAL_SERVER_ERROR, None);
        self.end(Stage::Panic);
    }

    /// Records that there was no answer in time.
    pub(crate) fn late(&self) {
        self.result(StatusCode::GATEWAY_TIMEOUT, None);
        self.end(Stage::ResponseComplete);
    }

    fn end(&self, stage: Stage) {
        self.lossy(|state| match std::mem::replace(&mut state.is_complete, true) {
            true => Ok(()),
            false => self.send(stage, state),
        });
    }

    /// Records an event whose loss no longer changes the answer: sinks have counted and logged it.
    fn lossy(&self, record: impl FnOnce(&mut State) -> Result<(), Failed>) {
        if let Err(Failed(why)) = self.with(record) {
            tracing::warn!(request = self.head.id, why, "an audit event was not recorded");
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn send_arrival(&self, arrival: &Arrival, state: &State) -> Result<(), Failed> {
        let texts = HeadTexts::of(&self.head);
        self.audit.record(&[self.arrival_event(&texts, arrival, state)])
    }

    /// Records a stage after the arrival, which is recorded with it if it is still held back.
    fn send(&self, stage: Stage, state: &mut State) -> Result<(), Failed> {
        self.events_to(stage, state, |events| self.audit.record(events))
    }

    /// Passes the event of a stage after the arrival to `record`, behind the arrival if that is still held back.
    fn events_to<R: From<Result<(), Failed>>>(
        &self,
        stage: Stage,
        state: &mut State,
        record: impl FnOnce(&[Event<'_>]) -> R,
    ) -> R {
        let arrival = state.arrival.take();
        if self.decision.omitted_stages.contains(stage) {
            return match arrival {
                Some(arrival) => record(&[self.arrival_event(&HeadTexts::of(&self.head), &arrival, state)]),
                None => Ok(()).into(),
            };
        }
        let texts = HeadTexts::of(&self.head);
        let annotations = self.annotations.collected();
        let event = Event {
            impersonated: state.impersonated.as_deref(),
            impersonation_constraint: &state.constraint,
            status: &state.status,
            code: state.code,
            request_object: &state.request_object,
            response_object: &state.response_object,
            at: self.audit.clock.now().into(),
            ..self.event(&texts, stage, state, &annotations)
        };
        match arrival {
            Some(arrival) => record(&[self.arrival_event(&texts, &arrival, state), event]),
            None => record(&[event]),
        }
    }

    fn arrival_event<'a>(&'a self, texts: &'a HeadTexts<'_>, arrival: &'a Arrival, state: &'a State) -> Event<'a> {
        const NONE: &AnnotationTexts = &BTreeMap::new();
        let annotations = arrival.annotations.as_deref().unwrap_or(NONE);
        self.event(texts, Stage::RequestReceived, state, annotations)
    }

    /// An event at the time of the arrival, with the facts that are known then.
    fn event<'a>(
        &'a self,
        texts: &'a HeadTexts<'_>,
        stage: Stage,
        state: &'a State,
        annotations: &'a AnnotationTexts,
    ) -> Event<'a> {
        let head = &self.head;
        Event {
            level: self.decision.level,
            id: &head.id,
            stage,
            uri: &texts.uri,
            verb: &texts.verb,
            user: head.user.as_deref(),
            impersonated: None,
            impersonation_constraint: "",
            source_ips: &head.source_ips,
            user_agent: &texts.agent,
            object: head.request.object().map(|object| completed(object, &state.sent)),
            status: &[],
            code: 0,
            request_object: &[],
            response_object: &[],
            received: head.received,
            at: head.received,
            annotations,
            json: OnceCell::new(),
        }
    }
}

/// The target of a request, completed from the sent object.
fn completed<'a>(object: ObjectReference<'a>, sent: &'a SentNames) -> ObjectReference<'a> {
    let or = |known: &'a str, sent: &'a str| if known.is_empty() { sent } else { known };
    ObjectReference {
        namespace: or(object.namespace, &sent.namespace),
        name: or(object.name, &sent.name),
        uid: or(object.uid, &sent.uid),
        resource_version: or(object.resource_version, &sent.resource_version),
        ..object
    }
}

impl Drop for AuditRecord {
    fn drop(&mut self) {
        if self.with(|state| state.code == 0) {
            let closed = meta::Status {
                status: "Success".to_owned(),
                message: CLOSED_EARLY.to_owned(),
                ..meta::Status::default()
            };
            self.result(StatusCode::OK, Some(closed));
        }
        self.complete();
    }
}

/// The start of every Status in JSON.
const HEAD: &[u8] = br#"{"kind":"Status","apiVersion":"v1","#;

/// Returns the status of an event in compact JSON, without kind and version.
fn status_of(code: u16, status: Option<meta::Status>) -> Cow<'static, [u8]> {
    let Some(status) = status else {
        // Most requests succeed, and their result is the code.
        return match code {
            200 => Cow::Borrowed(br#"{"metadata":{},"code":200}"#),
            201 => Cow::Borrowed(br#"{"metadata":{},"code":201}"#),
            code => Cow::Owned(format!(r#"{{"metadata":{{}},"code":{code}}}"#).into_bytes()),
        };
    };
    let status = meta::Status {
        code: i32::from(code),
        ..status
    };
    let json = json::to_vec(&status);
    Cow::Owned(match json.strip_prefix(HEAD) {
        Some(rest) => [b"{", rest].concat(),
        None => json,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_without_a_status_has_the_form_of_one() {
        for code in [200, 201, 202] {
            let expected = status_of(code, Some(meta::Status::default()));
            assert_eq!(status_of(code, None), expected);
        }
    }
}
