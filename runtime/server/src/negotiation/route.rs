//! The media types of routes, which kube-apiserver compares before it examines a request.

use http::Method;
use http::header::CONTENT_TYPE;
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
        return Err(not_consumed());
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
        false => Err(not_produced(produced)),
    }
}

/// True if the `Content-Type` of `request` lists one of `media_types`, or is not required.
pub(crate) fn consumes(request: &Parts, media_types: &[&str]) -> bool {
    match header_text(&request.headers, &CONTENT_TYPE) {
        "" => !is_write(request),
        listed => ranges(listed).any(|range| media_types.contains(&range)),
    }
}

/// The error of a route that does not read bodies of the type of a request.
pub(crate) fn not_consumed() -> ApiError {
    refusal(Reason::UnsupportedMediaType, "415: Unsupported Media Type")
}

/// The error of a route whose answers, which are `produced`, a client does not accept.
pub(super) fn not_produced(produced: &[&str]) -> ApiError {
    let produced = produced.join(", ");
    let message = format!("406: Not Acceptable\n\nAvailable representations: {produced}");
    refusal(Reason::NotAcceptable, &message)
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
    use http::header::{ACCEPT, CONTENT_LENGTH, HeaderName};

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
        let not_acceptable = "406 406: Not Acceptable\n\nAvailable representations: a/written, b/written";
        let unsupported = "415 415: Unsupported Media Type";
        check_message("GET", &[], "");
        check_message(
            "GET",
            &[(CONTENT_TYPE, "text/plain, a/read;x=y"), (ACCEPT, "b/written")],
            "",
        );
        check_message("GET", &[(CONTENT_TYPE, "text/plain")], unsupported);
        check_message("PATCH", &[], unsupported);
        check_message(
            "PATCH",
            &[(CONTENT_TYPE, "text/plain"), (CONTENT_LENGTH, "1")],
            unsupported,
        );
        check_message("GET", &[(ACCEPT, "text/html")], not_acceptable);
        check_message(
            "POST",
            &[(CONTENT_TYPE, "a/read"), (ACCEPT, "text/html")],
            not_acceptable,
        );
    }
}
