//! Where the documents are.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::any;
use http::header::{ACCEPT, CACHE_CONTROL, EXPIRES, HeaderValue, LOCATION, VARY};
use http::request::Parts;
use http::{Request, StatusCode};
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use serde_json::json;

use super::OpenApi;
use super::document::OpenApiDocument;
use crate::request::parameter;

pub(super) const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
pub(super) const V2_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// The endpoints; any method will do.
pub(crate) fn router(documents: OpenApi) -> Router {
    Router::new()
        .route("/openapi/v2", any(v2))
        .route("/openapi/v3", any(v3_index))
        .route("/openapi/v3/", any(nothing))
        .route("/openapi/v3/{*path}", any(v3))
        .with_state(documents)
}

async fn v2(State(openapi): State<OpenApi>, request: Request<Body>) -> Response {
    let (request, _) = request.into_parts();
    let documents = openapi.current.load();
    let document = &documents.v2;
    let json = document.json();
    let answer = accepted(&request).find_map(|media_range| match media_range {
        "*/*" | "application/*" | "application/json" => Some((json, "application/json")),
        V2_PROTOBUF | V2_PROTOBUF_OLD => Some((document.protobuf(), V2_PROTOBUF)),
        _ => None,
    });
    let mut response = match answer {
        Some((document, media_type)) => document.answer(&request, media_type, json.hash(), true),
        None => empty(StatusCode::NOT_ACCEPTABLE),
    };
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept"));
    response
}

async fn v3_index(State(openapi): State<OpenApi>, request: Request<Body>) -> Response {
    let documents = openapi.current.load();
    let place = |(path, document): (&String, &std::sync::Arc<OpenApiDocument>)| {
        (
            path.clone(),
            json!({ "serverRelativeURL": address(path, document.hash()) }),
        )
    };
    let paths: BTreeMap<_, _> = documents.v3.iter().map(place).collect();
    let index = OpenApiDocument::new(json!({ "paths": paths }).to_string());
    index.answer(
        &request.into_parts().0,
        "text/plain; charset=utf-8",
        index.hash(),
        false,
    )
}

async fn v3(State(openapi): State<OpenApi>, request: Request<Body>) -> Response {
    let (request, _) = request.into_parts();
    let path = request.uri.path().strip_prefix("/openapi/v3/").unwrap_or_default();
    let documents = openapi.current.load();
    let Some(document) = documents.v3.get(path) else {
        return empty(StatusCode::NOT_FOUND);
    };
    if !accepted(&request).any(|range| matches!(range, "*/*" | "application/*" | "application/json")) {
        return empty(StatusCode::NOT_ACCEPTABLE);
    }
    let wanted = parameter(request.uri.query().unwrap_or_default(), "hash").filter(|hash| !hash.is_empty());
    let mut response = match &wanted {
        Some(wanted) if *wanted != document.hash() => {
            let mut response = empty(StatusCode::MOVED_PERMANENTLY);
            if let Ok(place) = HeaderValue::try_from(address(path, document.hash())) {
                response.headers_mut().insert(LOCATION, place);
            }
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(http::header::CONTENT_TYPE, json);
            response
        }
        _ => document.answer(&request, "application/json", document.hash(), false),
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if wanted.is_some_and(|wanted| wanted == document.hash()) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        if let Some(expires) = in_a_year() {
            headers.insert(EXPIRES, expires);
        }
    }
    response
}

async fn nothing() -> Response {
    empty(StatusCode::NOT_FOUND)
}

fn empty(code: StatusCode) -> Response {
    let mut response = Response::default();
    *response.status_mut() = code;
    response
}

/// Media ranges of the request, without their parameters.
fn accepted(request: &Parts) -> impl Iterator<Item = &str> {
    let header = request
        .headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .filter(|header| !header.is_empty());
    header
        .unwrap_or("*/*")
        .split(',')
        .map(|range| range.split(';').next().unwrap_or_default().trim())
}

/// Where a document is found in its present state.
fn address(path: &str, hash: &str) -> String {
    format!("/openapi/v3/{path}?hash={hash}")
}

/// A copy that is found by its hash never gets old.
fn in_a_year() -> Option<HeaderValue> {
    let date = Timestamp::now().to_zoned(TimeZone::UTC).checked_add(1.year()).ok()?;
    HeaderValue::try_from(date.strftime("%a, %d %b %Y %H:%M:%S UTC").to_string()).ok()
}
