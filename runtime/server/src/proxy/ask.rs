//! Requests of the server itself.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};

use super::{Link, LinkError, Target};

/// Maximum size of an answer, in bytes.
const LIMIT: usize = 64 << 20;

/// A request of the server itself.
#[derive(Clone, Debug)]
pub struct Question {
    /// Method.
    pub method: Method,
    /// Headers, without `Host`.
    pub headers: HeaderMap,
    /// Body; may be empty.
    pub body: Vec<u8>,
    /// The `Host` header; `None` for that of the target's address.
    pub host: Option<String>,
    /// Maximum size of the answer, in bytes.
    pub answer_limit: usize,
}

/// The whole answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Status code.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
}

impl Question {
    /// Returns a GET request.
    #[must_use]
    pub fn get(headers: HeaderMap) -> Self {
        Self {
            method: Method::GET,
            headers,
            body: Vec::new(),
            host: None,
            answer_limit: LIMIT,
        }
    }

    /// Returns a POST request that sends and accepts JSON.
    #[must_use]
    pub fn post(mut headers: HeaderMap, json: Vec<u8>) -> Self {
        for name in [ACCEPT, CONTENT_TYPE] {
            headers.insert(name, HeaderValue::from_static("application/json"));
        }
        Self {
            method: Method::POST,
            headers,
            body: json,
            host: None,
            answer_limit: LIMIT,
        }
    }

    /// The same request, whose answer may have `bytes` bytes at most.
    #[must_use]
    pub fn limited_to(self, bytes: usize) -> Self {
        Self {
            answer_limit: bytes,
            ..self
        }
    }
}

/// Sends `question` to `target` and waits for the whole answer.
///
/// # Errors
///
/// The target did not answer in time.
pub async fn ask(target: &Target, link: &Link, timeout: Duration, question: Question) -> Result<Reply, LinkError> {
    let mut request = Request::new(Body::from(question.body));
    *request.method_mut() = question.method;
    *request.uri_mut() = target.uri().map_err(|_| LinkError::Address)?;
    *request.headers_mut() = question.headers;
    let host = question.host.unwrap_or_else(|| target.authority());
    let host = HeaderValue::try_from(host).map_err(|_| LinkError::Address)?;
    request.headers_mut().insert(HOST, host);
    let answer = async {
        let response = link.send(target, request).await?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, question.answer_limit).collect().await;
        Ok(Reply {
            status: head.status,
            headers: head.headers,
            body: body.map_err(|_| LinkError::Cut)?.to_bytes(),
        })
    };
    let answer = tokio::time::timeout(timeout, answer).await;
    answer.unwrap_or(Err(LinkError::Late))
}

/// Sends JSON to `target`, whose certificate is expected to be for `name`, and waits for the whole answer.
///
/// # Errors
///
/// The target did not answer in time.
pub async fn post(
    target: &Target,
    name: &str,
    link: &Link,
    timeout: Duration,
    json: Vec<u8>,
) -> Result<(StatusCode, Bytes), LinkError> {
    let link = link.clone().expecting(name);
    let reply = ask(target, &link, timeout, Question::post(HeaderMap::new(), json)).await?;
    Ok((reply.status, reply.body))
}
