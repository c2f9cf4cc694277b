//! The media types of routes, which kube-apiserver compares before it examines a request.

use http::Method;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};

use super::accept::{names_any, ranges};
use super::{accept_header, with_empty_details};
use crate::header_text::header_text;

/// Checks that a route accepts the media types of `request`: it reads bodies of the types `consumed`, and answers in those that
/// are `produced`.
///
/// # Errors
///
/// 415 or 406, in the words of the route.
pub(crate) fn check(request: &Parts, consumed: &[&str], produced: &[&str]) -> ApiResult<()> {
    if !consumes(request, consumed) {
        return Err(not_consumed(request));
    }
    check_produced(request, produced)
}

/// Checks that the client of `request` accepts one of the media types that a route has `produced`.
///
/// # Errors
///
/// 415 or 406, in the words of the route.
pub fn check_produced(request: &Parts, produced: &[&str]) -> ApiResult<()> {
    let accept = accept_header(request);
    match accept.is_empty() || names_any(accept, produced) {
        true => Ok(()),
        false => Err(not_produced(request, produced)),
    }
}

/// True if the `Content-Type` of `request` lists one of `media_types`, or is not required.
pub(crate) fn consumes(request: &Parts, media_types: &[&str]) -> bool {
    match header_text(&request.headers, &CONTENT_TYPE) {
        "" => !is_write(request),
        listed => ranges(listed).any(|range| media_types.contains(&range)),
    }
}

/// The error of a route that does not read the body of `request`.
pub(crate) fn not_consumed(request: &Parts) -> ApiError {
    match header_text(&request.headers, &CONTENT_LENGTH) {
        // The body may be empty, so the route is refused for its answers, of which none is left.
        "" | "0" => not_produced(request, &[]),
        _ => refusal(Reason::UnsupportedMediaType, "415: Unsupported Media Type"),
    }
}

/// The error of a route whose answers, which are `produced`, `request` does not accept.
pub(super) fn not_produced(request: &Parts, produced: &[&str]) -> ApiError {
    let lacks_length = matches!(header_text(&request.headers, &CONTENT_LENGTH), "" | "0");
    let (reason, words) = match is_write(request) && lacks_length {
        true => (Reason::UnsupportedMediaType, "415: Unsupported Media Type"),
        false => (Reason::NotAcceptable, "406: Not Acceptable"),
    };
    let produced = produced.join(", ");
    refusal(reason, &format!("{words}\n\nAvailable representations: {produced}"))
}

fn refusal(reason: Reason, message: &str) -> ApiError {
    with_empty_details(ApiError::new(reason, message))
}

/// True for methods whose requests have a body.
fn is_write(request: &Parts) -> bool {
    matches!(request.method, Method::POST | Method::PUT | Method::PATCH)
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http::header::{ACCEPT, HeaderName};

    use super::*;

    fn check_message(method: &str, headers: &[(HeaderName, &str)], expected: &str) {
        let mut request = Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let (request, ()) = request.body(()).expect("legal").into_parts();
        let refused = check(&request, &["a/read"], &["a/written", "b/written"]).err();
        let message = refused.map(|error| format!("{} {}", error.code(), error.message()));
        assert_eq!(message.unwrap_or_default(), expected, "{method} {headers:?}");
    }

    #[test]
    fn routes_refuse_media_types() {
        let available = "\n\nAvailable representations: ";
        let not_acceptable = format!("406 406: Not Acceptable{available}");
        let unsupported = format!("415 415: Unsupported Media Type{available}");
        check_message("GET", &[], "");
        check_message(
            "GET",
            &[(CONTENT_TYPE, "text/plain, a/read;x=y"), (ACCEPT, "b/written")],
            "",
        );
        check_message("GET", &[(CONTENT_TYPE, "text/plain")], &not_acceptable);
        let with_body = [(CONTENT_TYPE, "text/plain"), (CONTENT_LENGTH, "1")];
        check_message("GET", &with_body, "415 415: Unsupported Media Type");
        check_message("PATCH", &with_body, "415 415: Unsupported Media Type");
        check_message("PATCH", &[], &unsupported);
        check_message(
            "GET",
            &[(ACCEPT, "text/html")],
            &format!("{not_acceptable}a/written, b/written"),
        );
        let refused = [(CONTENT_TYPE, "a/read"), (ACCEPT, "text/html")];
        check_message("POST", &refused, &format!("{unsupported}a/written, b/written"));
        let with_body = [&refused[..], &[(CONTENT_LENGTH, "1")]].concat();
        check_message("POST", &with_body, &format!("{not_acceptable}a/written, b/written"));
    }
}
