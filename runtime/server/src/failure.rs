//! Answers of the server itself that are not about an object.

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderName, StatusCode};
use serde_json::json;

/// The answer to a path that nobody knows.
pub(crate) fn page_not_found() -> Response {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// A plain text answer that browsers must not take for anything else.
pub(crate) fn text(code: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// A Status for a resource path that does not exist.
pub(crate) fn not_found() -> Response {
    status(
        StatusCode::NOT_FOUND,
        "NotFound",
        "the server could not find the requested resource",
    )
}

/// A Status for a resource path that exists, but not for this method.
pub(crate) fn method_not_allowed() -> Response {
    status(
        StatusCode::METHOD_NOT_ALLOWED,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    )
}

/// A Status with empty details.
pub(crate) fn status(code: StatusCode, reason: &str, message: &str) -> Response {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "details": {}, "code": code.as_u16(),
    });
    let mut response = Response::new(Body::from(format!("{body}\n")));
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
