//! Requests for a tracing system, which the server itself knows nothing about.

use std::fmt;
use std::time::{Instant, SystemTime};

use http::HeaderMap;

use crate::request::Step;

/// What a client says its request is part of (the headers `traceparent` and `tracestate`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace.
    pub trace: u128,
    /// The span that the request is made in.
    pub span: u64,
    /// Whether the client records the trace.
    pub sampled: bool,
    /// What tracing systems passed on about it; may be empty.
    pub state: String,
}

impl TraceParent {
    /// Reads the headers; `None` when they do not name a trace.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
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
    /// Names the request in logs and audit records.
    pub id: String,
    /// How it was answered.
    pub code: u16,
    /// What it is part of.
    pub parent: Option<TraceParent>,
    /// Whether the client may say that it is recorded; otherwise it is only linked to what it is part of.
    pub trusted: bool,
    /// When it arrived.
    pub received: Instant,
    /// The same by the clock on the wall.
    pub received_at: SystemTime,
    /// When it was answered.
    pub answered: Instant,
    /// Where its time went.
    pub steps: Vec<Step>,
}

/// Takes requests for a tracing system. Asked about each request: must be quick.
pub trait Tracer: Send + Sync + fmt::Debug {
    /// Whether a request is recorded; `parent` is what it is part of, if its client may decide.
    fn samples(&self, parent: Option<&TraceParent>) -> bool;

    /// Records a request.
    fn record(&self, request: TracedRequest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Option<TraceParent> {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", text.parse().unwrap());
        headers.insert("tracestate", "a=b".parse().unwrap());
        TraceParent::of(&headers)
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
