//! Answers of the server itself that do not concern an object.

use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use planesmith_machinery::status::ApiError;

use crate::negotiation::Output;
use crate::response;

/// The answer for a path that no server serves.
pub(crate) fn page_not_found() -> Response {
    response::plain_text(StatusCode::NOT_FOUND, "404 page not found\n")
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
