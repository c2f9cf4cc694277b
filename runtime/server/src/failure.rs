//! Answers of the server itself that do not concern an object.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;

use crate::negotiation::Output;
use crate::response;

/// The answer for a path that no server serves.
pub(crate) fn page_not_found() -> Response {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// A plain text answer that browsers must not interpret as another type.
#[must_use]
pub fn text(code: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The error as a Status, in the encoding that the request accepts.
pub(crate) fn respond(request: &Parts, error: &ApiError) -> Response {
    response::failure(request, error)
}

/// The error as a Status in JSON, for requests that were dropped with their handler.
pub(crate) fn as_json(error: &ApiError) -> Response {
    response::failure_as(Output::json(), error)
}

/// The answer that replaces that of a handler that panicked. The request was dropped with the handler, so the encoding
/// that it accepts is unknown.
pub(crate) fn panicked() -> Response {
    as_json(&ApiError::internal(
        "the request caused the server to panic; its log has the details",
    ))
}

/// A document in the negotiated encoding; `json` is the encoding that most clients request.
pub(crate) fn document(request: &Parts, agreed: ApiResult<Output>, object: &dyn Struct, json: &Bytes) -> Response {
    match agreed {
        Ok(output) if output == Output::json() => {
            response::bytes(StatusCode::OK, output.format.media_type(), json.clone())
        }
        Ok(output) => response::structure(StatusCode::OK, output, object),
        Err(error) => respond(request, &error),
    }
}
