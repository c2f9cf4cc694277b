//! Requests of the server itself.

use std::io::Read as _;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use futures_util::future::BoxFuture;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderValue,
};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};

use super::{Link, LinkError, Target};
use crate::offload::block_in_place;

/// Maximum size of a response, in bytes.
const LIMIT: usize = 64 << 20;

/// The content encoding of compressed responses.
const GZIP: &str = "gzip";

/// A request of the server itself.
#[derive(Clone, Debug)]
pub struct OutboundRequest {
    /// Method.
    pub method: Method,
    /// Headers, without `Host`.
    pub headers: HeaderMap,
    /// Body; may be empty.
    pub body: Vec<u8>,
    /// The `Host` header; `None` for that of the target's address.
    pub host: Option<String>,
    /// Maximum size of the response, in bytes.
    pub response_limit: usize,
}

/// A response whose body is complete.
#[derive(Clone, Debug)]
pub struct BufferedResponse {
    /// Status code.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
}

impl OutboundRequest {
    /// Returns a GET request.
    #[must_use]
    pub fn get(headers: HeaderMap) -> Self {
        Self {
            method: Method::GET,
            headers,
            body: Vec::new(),
            host: None,
            response_limit: LIMIT,
        }
    }

    /// Returns a POST request that sends JSON and prefers it in the response, with the headers of client-go.
    #[must_use]
    pub fn post(mut headers: HeaderMap, json: Vec<u8>) -> Self {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self {
            method: Method::POST,
            headers,
            body: json,
            host: None,
            response_limit: LIMIT,
        }
    }

    /// The same request, whose response may have `bytes` bytes at most.
    #[must_use]
    pub fn limited_to(self, bytes: usize) -> Self {
        Self {
            response_limit: bytes,
            ..self
        }
    }

    /// Sends the request to `target` and waits for the complete response, which the target may compress.
    ///
    /// # Errors
    ///
    /// The target did not answer in time.
    pub fn send<'a>(
        self,
        target: &'a Target,
        link: &'a Link,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<BufferedResponse, LinkError>> {
        Box::pin(self.exchange(target, link, timeout))
    }

    async fn exchange(self, target: &Target, link: &Link, timeout: Duration) -> Result<BufferedResponse, LinkError> {
        let mut request = Request::new(Body::from(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = target.uri().map_err(|_| LinkError::Address)?;
        *request.headers_mut() = self.headers;
        let host = self.host.unwrap_or_else(|| target.authority());
        let host = HeaderValue::try_from(host).map_err(|_| LinkError::Address)?;
        request.headers_mut().insert(HOST, host);
        request
            .headers_mut()
            .insert(ACCEPT_ENCODING, HeaderValue::from_static(GZIP));
        let response = async {
            let response = link.send(target, request).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, self.response_limit).collect().await;
            let response = BufferedResponse {
                status: head.status,
                headers: head.headers,
                body: body.map_err(|_| LinkError::Cut)?.to_bytes(),
            };
            response.unpacked(self.response_limit)
        };
        let response = tokio::time::timeout(timeout, response).await;
        response.unwrap_or(Err(LinkError::Late))
    }
}

impl BufferedResponse {
    /// Returns the response without compression, of at most `limit` bytes.
    fn unpacked(mut self, limit: usize) -> Result<Self, LinkError> {
        let is_gzip = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(GZIP.as_bytes());
        if self.body.is_empty() || !self.headers.get(CONTENT_ENCODING).is_some_and(is_gzip) {
            return Ok(self);
        }
        let mut plain = Vec::new();
        let unpack = || {
            MultiGzDecoder::new(&self.body[..])
                .take(limit as u64 + 1)
                .read_to_end(&mut plain)
        };
        let unpacked = block_in_place(unpack).map_err(|_| LinkError::Cut)?;
        if unpacked > limit {
            return Err(LinkError::Cut);
        }
        for header in [CONTENT_ENCODING, CONTENT_LENGTH] {
            self.headers.remove(header);
        }
        self.body = plain.into();
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn response(coding: &'static str, body: Vec<u8>) -> BufferedResponse {
        BufferedResponse {
            status: StatusCode::OK,
            headers: HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]),
            body: body.into(),
        }
    }

    #[test]
    fn compressed_responses_are_read_up_to_the_limit() {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(&[b'a'; 1000]).unwrap();
        let mut packed = packer.finish().unwrap();
        let plain = response("gzip", packed.clone()).unpacked(1000).unwrap();
        assert_eq!((plain.body.len(), plain.headers.len()), (1000, 0));
        assert!(matches!(
            response("gzip", packed.clone()).unpacked(999),
            Err(LinkError::Cut)
        ));
        assert!(matches!(
            response("gzip", b"plain".to_vec()).unpacked(999),
            Err(LinkError::Cut)
        ));
        assert_eq!(response("br", b"other".to_vec()).unpacked(999).unwrap().body, "other");
        // An answer to a condition has the encoding that its body would have.
        assert_eq!(response("gzip", Vec::new()).unpacked(999).unwrap().body, "");
        packed.extend_from_within(..);
        assert_eq!(response("GZIP", packed).unpacked(2000).unwrap().body.len(), 2000);
    }
}
