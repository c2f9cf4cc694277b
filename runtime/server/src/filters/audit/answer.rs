//! The result and the object of an answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body::{Body as HttpBody, Frame, SizeHint};
use planesmith_machinery::feature::Features;
use planesmith_machinery::meta::Status;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::{json, protobuf};

use super::objects;
use crate::audit::AuditRecord;
use crate::body::complete_bytes;
use crate::negotiation::{Document, Format};
use crate::response::{NotNegotiated, Relayed};

/// The most bytes of an answer that are recorded. A policy can select whole answers; this bounds what lists that are
/// read slowly hold in memory.
const LONGEST_ANSWER: usize = 64 << 20;

/// Notes the result of `record`, and its object if that is recorded. Only the first observer of an answer does anything: the
/// one that sees it before it is compressed.
pub(super) fn observe(record: &Arc<AuditRecord>, response: &mut Response, features: &Features, scheme: &Arc<Scheme>) {
    if !record.begin_observation() {
        return;
    }
    let code = response.status();
    let extensions = response.extensions();
    if extensions.get::<Relayed>().is_some() || extensions.get::<NotNegotiated>().is_some() {
        return record.result(code, None);
    }
    let wants_object = record.wants_answer() && !(record.is_long_running() && code.is_success());
    // Successful reads have no Status, and their bodies may be large.
    let is_read = wants_object || !code.is_success() || record.may_answer_status();
    let Some(format) = is_read.then(|| format_of(response, features)).flatten() else {
        return record.result(code, None);
    };
    match complete_bytes(std::mem::take(response.body_mut())) {
        Ok(bytes) => {
            let is_needed = wants_object || may_contain_status(format, &bytes);
            let object = is_needed.then(|| in_json(format, &bytes, scheme)).flatten();
            note(record, code, object, wants_object);
            *response.body_mut() = Body::from(bytes);
        }
        Err(body) if wants_object => {
            record.result(code, None);
            record.await_answer();
            *response.body_mut() = Body::new(Recorded {
                body,
                seen: Vec::new(),
                format,
                code,
                scheme: Arc::clone(scheme),
                record: Some(Arc::clone(record)),
            });
        }
        Err(body) => {
            record.result(code, None);
            *response.body_mut() = body;
        }
    }
}

/// The encoding of an answer; `None` for one that is no object.
fn format_of(response: &Response, features: &Features) -> Option<Format> {
    if response.headers().contains_key(CONTENT_ENCODING) {
        return None;
    }
    let content_type = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    Format::of_media_type(media_type, features)
}

fn note(record: &AuditRecord, code: StatusCode, object: Option<Vec<u8>>, wants_object: bool) {
    let Some(object) = object else {
        return record.result(code, None);
    };
    record.result(code, status_in(&object));
    if wants_object {
        record.response_object(object);
    }
}

/// False for an answer that is surely another object than a Status: most writes are answered by their object, whose decoding
/// would be in vain.
fn may_contain_status(format: Format, bytes: &[u8]) -> bool {
    match format {
        // Without a place the kind is not known: another server may lay out its objects in another way.
        Format::Json => json::place_of(bytes, "kind").is_none_or(|place| bytes[place] == *b"\"Status\""),
        Format::Protobuf => protobuf::open(bytes).is_ok_and(|envelope| envelope.type_meta.kind == "Status"),
        Format::Yaml | Format::Cbor => true,
    }
}

/// Returns an answer in compact JSON; `None` for one that is no object of the API, such as the version of the server.
fn in_json(format: Format, bytes: &[u8], scheme: &Scheme) -> Option<Vec<u8>> {
    let document = Document::read(format, bytes).ok()?;
    let of = document.type_meta().ok()?;
    if of.kind.is_empty() {
        return None;
    }
    match document {
        Document::Json { json, .. } => {
            // Other encodings than JSON have the fields in alphabetical order.
            let is_sorted = format != Format::Json;
            let object = is_sorted.then(|| objects::of_document(scheme, &of, &json)).flatten();
            object.or_else(|| {
                let mut compact = Vec::with_capacity(json.len());
                json::compact(&json, &mut compact).ok().map(|()| compact)
            })
        }
        Document::Message(envelope) => objects::of_message(scheme, &of, envelope.raw),
    }
}

/// Returns the Status that a document is; `None` for another object.
fn status_in(object: &[u8]) -> Option<Status> {
    if !object.starts_with(br#"{"kind":"Status""#) {
        return None;
    }
    let mut status = Status::default();
    json::decode(object, &mut status, json::Strictness::Lenient).ok()?;
    Some(status)
}

/// A body whose bytes are recorded while they are sent, up to a limit. One that is cut off is recorded without its object.
struct Recorded {
    body: Body,
    seen: Vec<u8>,
    format: Format,
    code: StatusCode,
    scheme: Arc<Scheme>,
    /// `None` once the end was seen.
    record: Option<Arc<AuditRecord>>,
}

impl Recorded {
    fn see(&mut self, bytes: &[u8]) {
        if self.seen.len() <= LONGEST_ANSWER {
            self.seen.extend_from_slice(bytes);
        }
    }

    fn end(&mut self) {
        let Some(record) = self.record.take() else { return };
        let seen = std::mem::take(&mut self.seen);
        match seen.len() <= LONGEST_ANSWER {
            true => note(&record, self.code, in_json(self.format, &seen, &self.scheme), true),
            false => record.omit_answer(),
        }
    }
}

impl HttpBody for Recorded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(bytes) = frame.data_ref() {
                    self.see(bytes);
                }
                // A body with a known length is not polled again after its last byte.
                if self.body.is_end_stream() {
                    self.end();
                }
            }
            Poll::Ready(None) => self.end(),
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_status_is_read_for_its_result() {
        let status = |format, bytes: &[u8]| may_contain_status(format, bytes);
        assert!(status(Format::Json, br#"{"kind":"Status","apiVersion":"v1"}"#));
        assert!(status(
            Format::Json,
            b"{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\"\n}"
        ));
        assert!(!status(Format::Json, br#"{"kind":"StatusList"}"#));
        assert!(!status(Format::Json, br#"{"kind":"Pod","metadata":{"name":"Status"}}"#));
        for (kind, expected) in [("Status", true), ("Pod", false)] {
            let mut message = Vec::new();
            protobuf::wrap("v1", kind, &mut message, |_| {});
            assert_eq!(status(Format::Protobuf, &message), expected);
        }
    }
}
