//! The objects that another server has.

use axum::body::to_bytes;
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::loopback::{Loopback, LoopbackError};
use crate::objects::text;

/// Only metadata, from servers that can leave out the rest.
const ACCEPT: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Objects that are read at once, and the largest answer with them, in bytes.
const PAGE: usize = 500;
const PAGE_LIMIT: usize = 64 << 20;

/// Pages after which a list is taken for one without an end: ten million objects.
const PAGES: usize = 20_000;

/// Reads all objects at `path`, of which at least the metadata is there. Returns the version to follow them from.
///
/// # Errors
///
/// When the server refuses, or does not answer with a list; some objects may have been read then.
pub(super) async fn read_all(
    loopback: &Loopback,
    path: &str,
    mut read: impl FnMut(&Value),
) -> Result<String, LoopbackError> {
    let mut rest = String::new();
    for _ in 0..PAGES {
        let page = format!("{path}?limit={PAGE}{rest}");
        let body = loopback.read(&page, ACCEPT).await?;
        let unread = || LoopbackError::Answer {
            method: Method::GET,
            path: path.to_owned(),
        };
        let body = to_bytes(body, PAGE_LIMIT).await.map_err(|_| unread())?;
        let page: Value = serde_json::from_slice(&body).map_err(|_| unread())?;
        page["items"].as_array().into_iter().flatten().for_each(&mut read);
        match text(&page, "/metadata/continue") {
            "" => return Ok(text(&page, "/metadata/resourceVersion").to_owned()),
            token => rest = format!("&continue={}", utf8_percent_encode(token, NON_ALPHANUMERIC)),
        }
    }
    tracing::warn!(path, pages = PAGES, "a list of another server does not end");
    Err(LoopbackError::Answer {
        method: Method::GET,
        path: path.to_owned(),
    })
}
