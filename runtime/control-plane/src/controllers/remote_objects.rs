//! Lists the objects of another server.

use axum::body::to_bytes;
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::loopback::{Loopback, LoopbackError};
use crate::resource_client::text;

/// Requests only metadata, from servers that support that.
const ACCEPT: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// The number of objects per page, and its largest size, in bytes.
const PAGE: usize = 500;
const PAGE_LIMIT: usize = 64 << 20;

/// The number of pages after which a list is considered endless: ten million objects.
const PAGES: usize = 20_000;

/// Reads all objects at `path`, with their metadata at least. Returns the version to follow them from.
///
/// # Errors
///
/// If the server refuses, or does not answer with a list; some objects may have been read by then.
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
    tracing::warn!(path, pages = PAGES, "a list of another server has too many pages");
    Err(LoopbackError::Answer {
        method: Method::GET,
        path: path.to_owned(),
    })
}
