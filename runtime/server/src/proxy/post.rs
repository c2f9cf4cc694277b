//! Questions that the server itself asks.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};

use super::{Link, LinkError, Target};

/// Bytes that an answer may have.
const LIMIT: usize = 64 << 20;

/// Sends JSON to `target`, whose certificate is for `name`, and waits for the whole answer.
///
/// # Errors
///
/// When nobody answers in time.
pub async fn post(
    target: &Target,
    name: &str,
    link: &Link,
    patience: Duration,
    json: Vec<u8>,
) -> Result<(StatusCode, Bytes), LinkError> {
    let mut request = Request::new(Body::from(json));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = target.uri().map_err(|_| LinkError::Address)?;
    let headers = request.headers_mut();
    for name in [ACCEPT, CONTENT_TYPE] {
        headers.insert(name, HeaderValue::from_static("application/json"));
    }
    headers.insert(
        HOST,
        HeaderValue::try_from(target.authority()).map_err(|_| LinkError::Address)?,
    );
    let answer = async {
        let response = link.send_as(target, name, request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), LIMIT).collect().await;
        let body = body.map_err(|_| LinkError::Cut)?;
        Ok((status, body.to_bytes()))
    };
    let answer = tokio::time::timeout(patience, answer).await;
    answer.unwrap_or(Err(LinkError::Late))
}
