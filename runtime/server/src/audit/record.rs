//! The record of one request.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;
use planesmith_access::audit::{
    Annotations, AuditDecision, Event, Failed, Level, ObjectReference, Stage, without_managed_fields,
};
use planesmith_access::user::UserInfo;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::{json, meta};

use super::Audit;

/// The message of a request whose client disconnected before there was an answer.
const CLOSED_EARLY: &str = "Connection closed early";

/// The record of one request that the policy selects. Dropping it records the end of the request, if nothing has before.
#[derive(Debug)]
pub(crate) struct AuditRecord {
    audit: Arc<Audit>,
    decision: AuditDecision,
    head: Head,
    annotations: Annotations,
    // Locked for a few assignments, or while an event is passed to sinks, which no other part of the request waits for.
    state: Mutex<State>,
}

/// The parts of a record that do not change.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) uri: String,
    pub(crate) verb: String,
    pub(crate) user: Option<Arc<UserInfo>>,
    pub(crate) source_ips: Vec<String>,
    pub(crate) user_agent: String,
    pub(crate) received: MicroTime,
    /// True if the client decides how long the answer lasts.
    pub(crate) is_long_running: bool,
}

#[derive(Debug, Default)]
struct State {
    impersonated: Option<Arc<UserInfo>>,
    constraint: String,
    object: Option<ObjectReference>,
    request_object: Vec<u8>,
    response_object: Vec<u8>,
    status: Vec<u8>,
    code: u16,
    is_observed: bool,
    is_complete: bool,
}

impl AuditRecord {
    pub(crate) fn new(
        audit: &Arc<Audit>,
        decision: AuditDecision,
        head: Head,
        object: Option<ObjectReference>,
        annotations: Annotations,
    ) -> Self {
        Self {
            audit: Arc::clone(audit),
            decision,
            head,
            annotations,
            state: Mutex::new(State {
                object,
                ..State::default()
            }),
        }
    }

    /// The level of the record.
    pub(crate) fn level(&self) -> Level {
        self.decision.level
    }

    /// True if the object of the answer is recorded.
    pub(crate) fn wants_answer(&self) -> bool {
        self.level() == Level::RequestResponse && self.with(|state| state.object.is_some())
    }

    /// True if the answer may be a Status although the request succeeds, as that to a deletion.
    pub(crate) fn may_answer_status(&self) -> bool {
        !matches!(self.head.verb.as_str(), "get" | "list" | "watch")
    }

    /// True if the client decides how long the answer lasts.
    pub(crate) fn is_long_running(&self) -> bool {
        self.head.is_long_running
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
            let Some(object) = &mut state.object else { return };
            for (known, sent) in [
                (&mut object.namespace, &meta.namespace),
                (&mut object.name, &meta.name),
                (&mut object.uid, &meta.uid),
                (&mut object.resource_version, &meta.resource_version),
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

    /// Records the arrival.
    ///
    /// # Errors
    ///
    /// A strict sink has not recorded it, so that the request must be refused.
    pub(crate) fn receive(&self) -> Result<(), Failed> {
        self.with(|state| self.send(Stage::RequestReceived, state))
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

    fn send(&self, stage: Stage, state: &State) -> Result<(), Failed> {
        if self.decision.omitted_stages.contains(stage) {
            return Ok(());
        }
        let head = &self.head;
        let at = match stage {
            Stage::RequestReceived => head.received,
            _ => MicroTime::now(),
        };
        self.audit.record(&Event {
            level: self.decision.level,
            id: &head.id,
            stage,
            uri: &head.uri,
            verb: &head.verb,
            user: head.user.as_deref(),
            impersonated: state.impersonated.as_deref(),
            impersonation_constraint: &state.constraint,
            source_ips: &head.source_ips,
            user_agent: &head.user_agent,
            object: state.object.as_ref(),
            status: &state.status,
            code: state.code,
            request_object: &state.request_object,
            response_object: &state.response_object,
            received: head.received,
            at,
            annotations: &self.annotations.collected(),
            json: OnceCell::new(),
        })
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
fn status_of(code: u16, status: Option<meta::Status>) -> Vec<u8> {
    let Some(status) = status else {
        // Most requests succeed, and their result is the code.
        return format!(r#"{{"metadata":{{}},"code":{code}}}"#).into_bytes();
    };
    let status = meta::Status {
        code: i32::from(code),
        ..status
    };
    let json = json::to_vec(&status);
    match json.strip_prefix(HEAD) {
        Some(rest) => [b"{", rest].concat(),
        None => json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_without_a_status_has_the_form_of_one() {
        let expected = status_of(200, Some(meta::Status::default()));
        assert_eq!(status_of(200, None), expected);
    }
}
