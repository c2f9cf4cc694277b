//! Upgraded connections: SPDY and WebSocket streams are relayed unchanged.

use axum::body::Body;
use axum::response::Response;
use http::header::{CONNECTION, HOST, HeaderMap, UPGRADE};
use http::{HeaderValue, Method, Request, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use planesmith_access::upgrade::requests_upgrade;
use planesmith_machinery::status::{ApiError, ApiResult};

use super::{AnswerBody, Link, LinkError, Target, append_sender, end_to_end, leave_connection};
use crate::endpoint::Call;
use crate::task;

/// Forwards a request that upgrades its connection, and relays all bytes in both directions from then on. An answer
/// that refuses the upgrade is returned to the client unchanged.
///
/// # Errors
///
/// 400 for a request without an upgrade and for a destination that is not allowed, 500 when the target cannot be
/// reached.
pub async fn tunnel(call: &Call, target: &Target, link: &Link) -> ApiResult<Response> {
    let request = &call.parts;
    if !requests_upgrade(&request.headers) {
        return Err(ApiError::bad_request("Upgrade request required"));
    }
    let client = request.extensions.get::<OnUpgrade>().cloned();
    let client = client.ok_or_else(|| ApiError::unnamed(500, "unable to upgrade: the connection is not HTTP/1.1"))?;
    let mut headers = request.headers.clone();
    leave_connection(&mut headers);
    let mut answer = match switch(call, target, link, &request.method, headers).await? {
        UpgradeAnswer::Done(answer) => answer,
        UpgradeAnswer::Refused(refusal) => return Ok(refusal),
    };
    let backend = hyper::upgrade::on(&mut answer);
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    task::spawn(async move {
        let (client, backend) = match tokio::try_join!(client, backend) {
            Ok(both) => both,
            Err(error) => return tracing::debug!(%error, "a connection was not upgraded"),
        };
        let (mut client, mut backend) = (TokioIo::new(client), TokioIo::new(backend));
        if let Err(error) = tokio::io::copy_bidirectional(&mut client, &mut backend).await {
            tracing::debug!(%error, "a stream broke");
        }
    });
    Ok(response)
}

/// The answer of another server to an upgrade.
#[derive(Debug)]
pub enum UpgradeAnswer {
    /// The server has upgraded the connection.
    Done(http::Response<AnswerBody>),
    /// The server refuses; the answer is for the client.
    Refused(Response),
}

/// Requests an upgrade of a new connection to `target`, on behalf of the client of `call`.
///
/// # Errors
///
/// 400 for a destination that is not allowed, 500 when the target cannot be reached.
pub async fn switch(
    call: &Call,
    target: &Target,
    link: &Link,
    method: &Method,
    mut headers: HeaderMap,
) -> ApiResult<UpgradeAnswer> {
    append_sender(call, &mut headers);
    if let Ok(host) = HeaderValue::try_from(target.authority()) {
        headers.entry(HOST).or_insert(host);
    }
    let mut outward = Request::new(Body::empty());
    outward.method_mut().clone_from(method);
    *outward.uri_mut() = target.uri().map_err(|_| ApiError::bad_request("invalid URL"))?;
    *outward.headers_mut() = headers;
    let answer = link.send_alone(target, outward).await;
    let answer = answer.map_err(|error| match error {
        LinkError::NotAllowed => ApiError::bad_request(error.to_string()),
        error => ApiError::unnamed(500, format!("error dialing backend: {error}")),
    })?;
    let status = answer.status();
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Ok(UpgradeAnswer::Done(answer));
    }
    if status.as_u16() < 400 {
        let message = format!("invalid upgrade response: status code {}", status.as_u16());
        return Err(ApiError::unnamed(500, message));
    }
    let (head, body) = answer.into_parts();
    let mut response = Response::new(Body::new(body));
    *response.status_mut() = head.status;
    *response.headers_mut() = end_to_end(&head.headers);
    Ok(UpgradeAnswer::Refused(response))
}

/// True if the headers of an answer confirm the upgrade to `protocol`.
#[must_use]
pub fn is_switched_to(protocol: &str, headers: &HeaderMap) -> bool {
    let says = |name, wanted: &str| {
        let value = headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        value.is_some_and(|value| value.to_ascii_lowercase().contains(&wanted.to_ascii_lowercase()))
    };
    says(CONNECTION, "upgrade") && says(UPGRADE, protocol)
}
