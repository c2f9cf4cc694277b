//! Requests for a tracing system; this crate has no dependency on one.

use std::fmt;
use std::time::{Instant, SystemTime};

use http::HeaderMap;

use crate::request::Step;

/// The trace that a client's request belongs to (the headers `traceparent` and `tracestate`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace ID.
    pub trace: u128,
    /// The span of the client's request.
    pub span: u64,
    /// True if the client records the trace.
    pub sampled: bool,
    /// State that tracing systems have passed on; may be empty.
    pub state: String,
}

impl TraceParent {
    /// Reads the headers; `None` when they do not name a trace.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get("traceparent")?.to_str().ok()?;
        let state = headers.get("tracestate").and_then(|state| state.to_str().ok());
        let mut parts = text.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let fits = |part: &str, length: usize| {
            let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            part.len() == length && part.bytes().all(is_digit)
        };
        let is_known = version == "00" && parts.next().is_none();
        let is_later = fits(version, 2) && version != "00" && version != "ff";
        if !(is_known || is_later) || !fits(trace, 32) || !fits(span, 16) || !fits(flags, 2) {
            return None;
        }
        let parent = Self {
            trace: u128::from_str_radix(trace, 16).ok()?,
            span: u64::from_str_radix(span, 16).ok()?,
            sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1,
            state: state.unwrap_or_default().to_owned(),
        };
        (parent.trace != 0 && parent.span != 0).then_some(parent)
    }
}

/// A request that was answered.
#[derive(Clone, Debug)]
pub struct TracedRequest {
    /// Its method and path, with placeholders for names.
    pub name: String,
    /// Its method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The request's id in logs and audit records.
    pub id: String,
    /// The status code of the answer.
    pub code: u16,
    /// The client's trace.
    pub parent: Option<TraceParent>,
    /// True if the client decides if the request is recorded; otherwise the request is only linked to the client's
    /// trace.
    pub trusted: bool,
    /// Time of its arrival.
    pub received: Instant,
    /// Time of its arrival by the wall clock.
    pub received_at: SystemTime,
    /// Time of its answer.
    pub answered: Instant,
    /// The durations of its stages.
    pub steps: Vec<Step>,
}

/// Receives requests for a tracing system. Called for each request, so it must return quickly.
pub trait Tracer: Send + Sync + fmt::Debug {
    /// True if a request is recorded; `parent` is its client's trace, if the client may decide.
    fn samples(&self, parent: Option<&TraceParent>) -> bool;

    /// Records a request.
    fn record(&self, request: TracedRequest);

    /// Sends what is recorded. Called once, after the last request; it may block for some seconds.
    fn finish(&self);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Option<TraceParent> {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", text.parse().unwrap());
        headers.insert("tracestate", "a=b".parse().unwrap());
        TraceParent::from_headers(&headers)
    }

    #[test]
    fn parents_are_read_as_the_standard_has_them() {
        let parent = read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").unwrap();
        assert_eq!(parent.trace, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
        assert_eq!(parent.span, 0xb7ad_6b71_6920_3331);
        assert!(parent.sampled);
        assert_eq!(parent.state, "a=b");
        let later = read("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02-more").unwrap();
        assert!(!later.sampled);
        for wrong in [
            "",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
