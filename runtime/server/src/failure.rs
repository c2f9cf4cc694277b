//! Answers of the server itself that are not about an object.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use planesmith_machinery::status::ApiError;
use planesmith_machinery::value::Struct;
use planesmith_machinery::{json, meta};

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
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The error as a Status, in the form that the request asks for.
pub(crate) fn respond(_: &Parts, error: &ApiError) -> Response {
    as_json(error)
}

/// The error as a Status in JSON, for requests that are gone with their handler.
pub(crate) fn as_json(error: &ApiError) -> Response {
    let mut body = json::to_vec(&meta::Status::from(error.status()));
    body.push(b'\n');
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(error.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(seconds) = error.retry_after_seconds() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// A document in the form that the request asks for.
pub(crate) fn document(_: &Parts, _: &dyn Struct, json: &Bytes) -> Response {
    let mut response = Response::new(Body::from(json.clone()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
