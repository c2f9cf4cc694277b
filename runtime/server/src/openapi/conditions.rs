//! Conditional requests and ranges of documents, as Go's file server understands them.

use std::ops::Range;

use axum::response::Response;
use http::header::{
    CONTENT_RANGE, HeaderName, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE,
    RANGE,
};
use http::request::Parts;
use http::{Method, StatusCode};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::response;

/// The most ranges that are answered apart: a header of many one-byte ranges would make an answer of many megabytes.
const MAX_PARTS: usize = 1000;

/// The format of dates in headers.
const DATE: &str = "%a, %d %b %Y %H:%M:%S GMT";

/// The state of a document, with which requests compare the state that their client knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct State<'s> {
    /// The entity tag with its quotes; `None` for a document without one.
    pub(super) tag: Option<&'s str>,
    /// The time of the last change.
    pub(super) changed: Timestamp,
}

/// The answer that the conditions of a request select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selected<'r> {
    /// The document.
    Whole,
    /// The part of the document that a header names.
    Part(&'r str),
    /// 304: the client has the document.
    NotModified,
    /// 412: the document is not in the state that the client requires.
    Failed,
}

impl State<'_> {
    /// Checks the conditions of `request`.
    pub(super) fn select<'r>(&self, request: &'r Parts) -> Selected<'r> {
        let header = |name: HeaderName| {
            let value = request.headers.get(name)?.to_str().ok()?;
            (!value.is_empty()).then_some(value)
        };
        let is_read = matches!(request.method, Method::GET | Method::HEAD);
        let is_required = match header(IF_MATCH) {
            Some(tags) => self.is_one_of(tags),
            None => header(IF_UNMODIFIED_SINCE)
                .and_then(date)
                .is_none_or(|date| self.changed_at() <= date),
        };
        if !is_required {
            return Selected::Failed;
        }
        let is_known = match header(IF_NONE_MATCH) {
            Some(tags) => self.is_one_of(&tags.replace("W/", "")),
            None => {
                let date = header(IF_MODIFIED_SINCE).and_then(date);
                is_read && date.is_some_and(|date| self.changed_at() <= date)
            }
        };
        match (is_known, header(RANGE)) {
            (true, _) if is_read => Selected::NotModified,
            (true, _) => Selected::Failed,
            (false, Some(range)) if self.is_partial(header(IF_RANGE).filter(|_| is_read)) => Selected::Part(range),
            (false, _) => Selected::Whole,
        }
    }

    /// True if `tags` has the tag of the document, or stands for any tag.
    fn is_one_of(&self, tags: &str) -> bool {
        let mut tags = tags.split(',').map(str::trim);
        tags.any(|known| known == "*" || Some(known) == self.tag)
    }

    /// True if a part continues the document that `known` names, by its tag or date.
    fn is_partial(&self, known: Option<&str>) -> bool {
        known.is_none_or(|known| Some(known) == self.tag || date(known) == Some(self.changed_at()))
    }

    /// Seconds of Unix time, as far as dates in headers tell.
    fn changed_at(&self) -> i64 {
        self.changed.as_second()
    }

    /// The time of the last change in the format of headers.
    pub(super) fn last_modified(&self) -> String {
        self.changed.strftime(DATE).to_string()
    }
}

/// A date in a header, in seconds of Unix time.
fn date(text: &str) -> Option<i64> {
    let date = DateTime::strptime(DATE, text).ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(date.timestamp().as_second())
}

/// The bytes of a document of `size` bytes that the header `range` names; empty for the whole document, which is also the
/// answer to too many ranges, and to ranges that are larger together.
///
/// # Errors
///
/// 416 if the header is malformed or names no byte of the document.
pub(super) fn parts(range: &str, size: usize) -> Result<Vec<Range<usize>>, Box<Response>> {
    let malformed = || Box::new(refusal("invalid range"));
    let parts = range.strip_prefix("bytes=").ok_or_else(malformed)?;
    let (mut found, mut are_beyond) = (Vec::new(), false);
    for part in parts.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (start, end) = part.split_once('-').ok_or_else(malformed)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| malformed());
        let bytes = match (start.trim(), end.trim()) {
            ("", last) => size.saturating_sub(number(last)?)..size,
            (start, "") => number(start)?..size,
            (start, end) => {
                let (start, end) = (number(start)?, number(end)?);
                if start > end {
                    return Err(malformed());
                }
                start..end.saturating_add(1).min(size)
            }
        };
        match bytes.start < size {
            true => found.push(bytes),
            false => are_beyond = true,
        }
    }
    match &found[..] {
        [] if are_beyond => {
            let mut refusal = refusal("invalid range: failed to overlap");
            if let Ok(size) = HeaderValue::try_from(format!("bytes */{size}")) {
                refusal.headers_mut().insert(CONTENT_RANGE, size);
            }
            Err(Box::new(refusal))
        }
        parts if parts.len() > MAX_PARTS || parts.iter().map(Range::len).sum::<usize>() > size => Ok(Vec::new()),
        _ => Ok(found),
    }
}

fn refusal(why: &str) -> Response {
    response::plain_text(StatusCode::RANGE_NOT_SATISFIABLE, format!("{why}\n"))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn check(method: &str, headers: &[(&str, &str)], expected: Selected<'_>) {
        let state = State {
            tag: Some("\"a\""),
            changed: "2026-01-02T03:04:05.6Z".parse().unwrap(),
        };
        assert_eq!(state.last_modified(), "Fri, 02 Jan 2026 03:04:05 GMT");
        let mut request = Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (request, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(state.select(&request), expected, "{method} {headers:?}");
    }

    #[test]
    fn conditions_select_the_answer() {
        let (before, same, after) = (
            "Fri, 02 Jan 2026 03:04:04 GMT",
            "Fri, 02 Jan 2026 03:04:05 GMT",
            "Fri, 02 Jan 2026 03:04:06 GMT",
        );
        check("GET", &[], Selected::Whole);
        check("GET", &[("if-modified-since", before)], Selected::Whole);
        check("GET", &[("if-modified-since", same)], Selected::NotModified);
        check("GET", &[("if-modified-since", after)], Selected::NotModified);
        check("POST", &[("if-modified-since", after)], Selected::Whole);
        check("GET", &[("if-modified-since", "yesterday")], Selected::Whole);
        check("GET", &[("if-none-match", "W/\"a\"")], Selected::NotModified);
        check("POST", &[("if-none-match", "*")], Selected::Failed);
        let headers = [("if-none-match", "\"b\""), ("if-modified-since", after)];
        check("GET", &headers, Selected::Whole);
        check("GET", &[("if-match", "\"b\", \"a\"")], Selected::Whole);
        check("GET", &[("if-match", "W/\"a\"")], Selected::Failed);
        check("GET", &[("if-unmodified-since", before)], Selected::Failed);
        check("GET", &[("if-unmodified-since", same)], Selected::Whole);
        check("GET", &[("range", "bytes=0-9")], Selected::Part("bytes=0-9"));
        for (known, expected) in [
            ("\"a\"", Selected::Part("x")),
            (same, Selected::Part("x")),
            ("\"b\"", Selected::Whole),
        ] {
            check("GET", &[("range", "x"), ("if-range", known)], expected);
        }
    }

    #[test]
    fn ranges_name_bytes() {
        let read = |range| parts(range, 10).map_err(|refusal| refusal.headers().get(CONTENT_RANGE).is_some());
        let named =
            |range| read(range).map(|parts| parts.iter().map(|part| (part.start, part.end)).collect::<Vec<_>>());
        for (range, expected) in [
            ("bytes=0-3", vec![(0, 4)]),
            ("bytes=4-", vec![(4, 10)]),
            ("bytes=-3", vec![(7, 10)]),
            ("bytes=-30", vec![(0, 10)]),
            ("bytes=8-20, 30-40", vec![(8, 10)]),
            ("bytes=0-1,3-4", vec![(0, 2), (3, 5)]),
            ("bytes=0-6,3-6", vec![]),
        ] {
            assert_eq!(named(range), Ok(expected), "{range}");
        }
        assert_eq!(read("bytes=10-"), Err(true));
        assert_eq!(read("bytes=3-1"), Err(false));
        assert_eq!(read("lines=0-1"), Err(false));
    }
}
