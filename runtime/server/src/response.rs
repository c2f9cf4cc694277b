//! Answers: objects, Statuses and their headers.

use axum::body::Body;
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;
use planesmith_machinery::{cbor, json, meta, protobuf, yaml};

use crate::negotiation::{self, Format, Output};

/// The media type of plain text, as Go writes it.
pub const TEXT: &str = "text/plain; charset=utf-8";

/// Marks the answer of another server, whose headers are added to those of this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relayed;

/// Marks an answer whose body is written although its encoding could not be negotiated: kube-apiserver records nothing of it but
/// the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotNegotiated;

/// Puts a header of this server before those of the same name in the answer of another server.
pub(crate) fn put_first(response: &mut Response, name: &HeaderName, own: HeaderValue) {
    let headers = response.headers_mut();
    let others: Vec<HeaderValue> = headers.get_all(name).iter().cloned().collect();
    headers.insert(name, own);
    for other in others {
        headers.append(name, other);
    }
}

/// An answer with a complete body.
#[must_use]
pub fn bytes(code: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Response {
    stream(code, media_type, Body::from(body.into()))
}

/// An answer without a body and headers.
pub(crate) fn empty(code: StatusCode) -> Response {
    let mut response = Response::default();
    *response.status_mut() = code;
    response
}

/// An answer with a streamed body.
#[must_use]
pub fn stream(code: StatusCode, media_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    // Room for those that filters and the connection add.
    headers.reserve(12);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A plain text answer that browsers must not interpret as another type.
#[must_use]
pub fn plain_text(code: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The answer to a request that is not served because there are too many. The client may try again after some seconds.
pub(crate) fn too_many_requests(retry_after: u64) -> Response {
    let text = "Too many requests, please try again later.\n";
    let mut response = plain_text(StatusCode::TOO_MANY_REQUESTS, text);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(retry_after));
    response
}

/// An answer with an object that is not a resource, such as a Status.
#[must_use]
pub fn structure(code: StatusCode, output: Output, object: &dyn Struct) -> Response {
    let body = match output.format {
        Format::Protobuf => {
            let mut body = Vec::with_capacity(256);
            protobuf::encode_enveloped(object, &mut body);
            body
        }
        Format::Json | Format::Yaml | Format::Cbor => encode_json(output, json::to_vec(object)),
    };
    bytes(code, output.format.media_type(), body)
}

/// Compact JSON in the negotiated encoding: with a final newline, indented, or as YAML.
#[must_use]
pub fn encode_json(output: Output, mut compact: Vec<u8>) -> Vec<u8> {
    if output.beta {
        compact = in_beta(&compact);
    }
    match output.format {
        Format::Json if output.pretty => {
            let mut indented = Vec::with_capacity(compact.len() * 2);
            json::indent(&compact, &mut indented);
            indented
        }
        Format::Json | Format::Protobuf => {
            compact.push(b'\n');
            compact
        }
        // The text is JSON that this server encoded.
        Format::Yaml => yaml::from_json(&compact).unwrap_or(compact),
        Format::Cbor => {
            let mut body = Vec::with_capacity(compact.len());
            match cbor::from_json(&compact, &mut body) {
                Ok(()) => body,
                Err(_) => compact,
            }
        }
    }
}

/// Tables and metadata in compact JSON, with the older version of their group. Quotes inside of texts are escaped, so
/// nothing else looks like a version.
pub(crate) fn in_beta(compact: &[u8]) -> Vec<u8> {
    const VERSION: &[u8] = b"\"apiVersion\":\"meta.k8s.io/v1\"";
    let mut out = Vec::with_capacity(compact.len() + 64);
    let mut rest = compact;
    while let Some(at) = rest.windows(VERSION.len()).position(|part| part == VERSION) {
        let (before, behind) = rest.split_at(at + VERSION.len() - 1);
        out.extend_from_slice(before);
        out.extend_from_slice(b"beta1");
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}

/// A document in the negotiated encoding; `json` is the encoding that most clients request.
pub(crate) fn document(request: &Parts, agreed: ApiResult<Output>, object: &dyn Struct, json: &Bytes) -> Response {
    match agreed {
        Ok(output) if output == Output::json() => bytes(StatusCode::OK, output.format.media_type(), json.clone()),
        Ok(output) => structure(StatusCode::OK, output, object),
        Err(error) => failure(request, &error),
    }
}

/// The routes of a web service of kube-apiserver that has one document: at `path`, which may end with a slash, and none below.
pub fn web_service<F>(path: &str, answer: F) -> [(String, MethodRouter); 3]
where
    F: Fn(&Parts) -> Response + Clone + Send + Sync + 'static,
{
    let document = get_only(answer);
    [
        (path.to_owned(), document.clone()),
        (format!("{path}/"), document),
        (format!("{path}/{{*rest}}"), no_route()),
    ]
}

/// A route for GET alone. Other methods are refused without the `Allow` header that axum's `get` would send.
pub(crate) fn get_only<F>(answer: F) -> MethodRouter
where
    F: Fn(&Parts) -> Response + Clone + Send + Sync + 'static,
{
    any(move |request: Request<Body>| {
        let (request, _) = request.into_parts();
        std::future::ready(match request.method {
            Method::GET => answer(&request),
            _ => failure(&request, &ApiError::method_not_allowed()),
        })
    })
}

/// A route that is not found.
fn no_route() -> MethodRouter {
    any(|request: Request<Body>| {
        let (request, _) = request.into_parts();
        std::future::ready(failure(&request, &ApiError::path_not_found()))
    })
}

/// The answer to a request that failed, in an encoding that its client accepts if there is one.
#[must_use]
pub fn failure(request: &Parts, error: &ApiError) -> Response {
    match negotiation::negotiate_failure(request) {
        Ok(output) => failure_as(output, error),
        Err(output) => {
            let mut response = failure_as(output, error);
            response.extensions_mut().insert(NotNegotiated);
            response
        }
    }
}

/// The answer to a request that failed.
#[must_use]
pub fn failure_as(output: Output, error: &ApiError) -> Response {
    let code = StatusCode::from_u16(error.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = structure(code, output, &meta::Status::from(error.status()));
    let headers = response.headers_mut();
    if let Some(seconds) = error.retry_after_seconds() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
