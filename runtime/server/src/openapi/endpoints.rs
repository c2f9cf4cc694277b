//! The endpoints of the OpenAPI documents.

use std::collections::BTreeMap;
use std::time::SystemTime;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::any;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, EXPIRES, HeaderValue, LOCATION, VARY};
use http::request::Parts;
use http::{Request, StatusCode};
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use serde_json::json;

use super::document::OpenApiDocument;
use super::{OpenApi, Source, gnostic};
use crate::header_text::header_text;
use crate::negotiation::clauses;
use crate::request::Query;
use crate::response::empty;

const JSON: &str = "application/json";
pub(super) const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
pub(super) const V2_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
pub(super) const V3_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
pub(super) const V3_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";

/// The endpoints, for all methods.
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
    let json = documents.v2.json(&*openapi.clock);
    let form = form(
        &request,
        &[(JSON, JSON), (V2_PROTOBUF, V2_PROTOBUF), (V2_PROTOBUF_OLD, V2_PROTOBUF)],
    );
    let mut response = match form {
        Some(JSON) => json.answer(&request, JSON, Some(json.hash()), true),
        Some(form) => json
            .protobuf(v2_in_protobuf)
            .answer(&request, form, Some(json.hash()), true),
        None => {
            // The whole document could have been compressed.
            let mut refusal = empty(StatusCode::NOT_ACCEPTABLE);
            refusal
                .headers_mut()
                .append(VARY, HeaderValue::from_static("Accept-Encoding"));
            refusal
        }
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
    let index = OpenApiDocument::new(
        Source::Ready(json!({ "paths": paths }).to_string().into()),
        openapi.clock.now(),
    );
    index.answer(&request.into_parts().0, "text/plain; charset=utf-8", None, false)
}

async fn v3(State(openapi): State<OpenApi>, request: Request<Body>) -> Response {
    let (request, _) = request.into_parts();
    let path = request.uri.path().strip_prefix("/openapi/v3/").unwrap_or_default();
    let documents = openapi.current.load();
    let Some(document) = documents.v3.get(path) else {
        return empty(StatusCode::NOT_FOUND);
    };
    let offers = [(JSON, JSON), (V3_PROTOBUF, V3_PROTOBUF), (V3_PROTOBUF_OLD, V3_PROTOBUF)];
    let Some(form) = form(&request, &offers) else {
        let mut response = empty(StatusCode::NOT_ACCEPTABLE);
        response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
        return response;
    };
    let query = Query::new(request.uri.query().unwrap_or_default());
    let wanted = query.first("hash").filter(|hash| !hash.is_empty());
    let mut response = match &wanted {
        Some(wanted) if *wanted != document.hash() => {
            let mut response = empty(StatusCode::MOVED_PERMANENTLY);
            if let Ok(place) = HeaderValue::try_from(address(path, document.hash())) {
                response.headers_mut().insert(LOCATION, place);
            }
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static(form));
            response
        }
        _ if form == JSON => document.answer(&request, form, Some(document.hash()), false),
        _ => document
            .protobuf(v3_in_protobuf)
            .answer(&request, form, Some(document.hash()), false),
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if wanted.is_some_and(|wanted| wanted == document.hash()) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        if let Some(expires) = in_a_year(openapi.clock.now()) {
            headers.insert(EXPIRES, expires);
        }
    }
    response
}

async fn nothing() -> Response {
    empty(StatusCode::NOT_FOUND)
}

/// The client's preferred encoding of a document out of `offers`: pairs of an accepted name and the media type of the
/// answer.
fn form(request: &Parts, offers: &[(&str, &'static str)]) -> Option<&'static str> {
    let header = match header_text(&request.headers, &ACCEPT) {
        "" => "*/*",
        header => header,
    };
    clauses(header).iter().find_map(|clause| {
        let mut offers = offers.iter();
        offers.find(|(offer, _)| clause.covers(offer)).map(|(_, form)| *form)
    })
}

fn v2_in_protobuf(json: &[u8]) -> Vec<u8> {
    gnostic::encode_v2(&serde_json::from_slice(json).unwrap_or_default())
}

fn v3_in_protobuf(json: &[u8]) -> Vec<u8> {
    gnostic::encode_v3(&serde_json::from_slice(json).unwrap_or_default())
}

/// The address of a document in its current state.
fn address(path: &str, hash: &str) -> String {
    format!("/openapi/v3/{path}?hash={hash}")
}

/// A copy that is addressed by its hash never expires.
fn in_a_year(now: SystemTime) -> Option<HeaderValue> {
    let date = Timestamp::try_from(now)
        .ok()?
        .to_zoned(TimeZone::UTC)
        .checked_add(1.year())
        .ok()?;
    HeaderValue::try_from(date.strftime("%a, %d %b %Y %H:%M:%S UTC").to_string()).ok()
}
