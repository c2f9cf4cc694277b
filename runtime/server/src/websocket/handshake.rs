//! WebSocket handshakes.

use axum::body::Body;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CONNECTION, HeaderMap, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{Method, StatusCode};
pub(crate) use planesmith_access::upgrade::requests_web_socket;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use crate::header_text::header_text;

/// The only supported version.
const VERSION: HeaderValue = HeaderValue::from_static("13");
/// The GUID of the standard that is appended to each key.
const MIXED_IN: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// An accepted handshake.
#[derive(Debug)]
pub struct Handshake {
    accept: HeaderValue,
    protocol: Option<HeaderValue>,
}

/// The reason that a handshake is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The client sends no key.
    NoKey,
    /// The version is not supported.
    Version,
    /// The method is not GET.
    Method,
    /// None of the offered protocols is supported.
    UnknownProtocol,
    /// Browsers send the origin of the page, and other clients must send one, too.
    Origin,
    /// Several protocols are offered, and none is preferred.
    Protocols,
}

impl Handshake {
    /// Reads a client's handshake.
    pub(super) fn read(request: &Parts) -> Result<Self, Refusal> {
        let headers = &request.headers;
        let accept = accept(headers)?;
        if !is_uri(header_text(headers, &ORIGIN)) {
            return Err(Refusal::Origin);
        }
        let protocol = header_text(headers, &SEC_WEBSOCKET_PROTOCOL).trim();
        if protocol.contains(',') {
            return Err(Refusal::Protocols);
        }
        let protocol = HeaderValue::try_from(protocol)
            .ok()
            .filter(|protocol| !protocol.is_empty());
        Ok(Self { accept, protocol })
    }

    /// Reads the handshake of a client that must offer `protocol`, from a page of any origin.
    ///
    /// # Errors
    ///
    /// The handshake is invalid, or does not offer the protocol.
    pub fn for_protocol(request: &Parts, protocol: &'static str) -> Result<Self, Refusal> {
        if request.method != Method::GET {
            return Err(Refusal::Method);
        }
        let accept = accept(&request.headers)?;
        match offers_protocol(&request.headers, |offered| offered == protocol) {
            true => Ok(Self {
                accept,
                protocol: Some(HeaderValue::from_static(protocol)),
            }),
            false => Err(Refusal::UnknownProtocol),
        }
    }

    /// Accepts the key of a client, and `protocol`.
    ///
    /// # Errors
    ///
    /// There is no key, or the version is not supported.
    pub fn accepting(request: &Parts, protocol: Option<HeaderValue>) -> Result<Self, Refusal> {
        let accept = accept(&request.headers)?;
        Ok(Self { accept, protocol })
    }

    /// Returns the answer after which the connection is a WebSocket.
    #[must_use]
    pub fn response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, self.accept);
        if let Some(protocol) = self.protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        response
    }
}

impl Refusal {
    /// Returns the answer, in the words of kube-apiserver; it is the last one on the connection.
    #[must_use]
    pub fn response(self) -> Response {
        let (code, text) = match self {
            Refusal::NoKey => (StatusCode::BAD_REQUEST, "mismatch challenge/response"),
            Refusal::Version => (StatusCode::BAD_REQUEST, "missing or bad WebSocket Version"),
            Refusal::Method => (StatusCode::METHOD_NOT_ALLOWED, "bad method"),
            Refusal::Origin | Refusal::UnknownProtocol => (StatusCode::FORBIDDEN, ""),
            Refusal::Protocols => (StatusCode::BAD_REQUEST, ""),
        };
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = code;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if self == Refusal::Version {
            headers.insert(SEC_WEBSOCKET_VERSION, VERSION);
        }
        response
    }
}

/// True if a client requests WebSocket with a protocol that is `wanted`.
pub fn offers_protocol(headers: &HeaderMap, wanted: impl Fn(&str) -> bool) -> bool {
    requests_web_socket(headers) && offered_protocols(headers).any(wanted)
}

/// Returns the protocols that a client offers, most preferred first.
pub fn offered_protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    header_text(headers, &SEC_WEBSOCKET_PROTOCOL).split(',').map(str::trim)
}

/// The answer to the key of a client with the supported version.
fn accept(headers: &HeaderMap) -> Result<HeaderValue, Refusal> {
    let key = header_text(headers, &SEC_WEBSOCKET_KEY);
    if key.is_empty() {
        return Err(Refusal::NoKey);
    }
    if header_text(headers, &SEC_WEBSOCKET_VERSION) != "13" {
        return Err(Refusal::Version);
    }
    let mixed = digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{MIXED_IN}").as_bytes());
    HeaderValue::try_from(STANDARD.encode(mixed)).map_err(|_| Refusal::NoKey)
}

/// True if Go accepts the text as the URI of a request: a path, or a scheme with a remainder.
fn is_uri(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let has_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    !text.contains([' ', '\t']) && (has_scheme || text.starts_with('/') || text == "*")
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn offered(headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().uri("/api/v1/pods?watch=1");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).expect("legal").into_parts().0
    }

    /// The key in the example of the WebSocket standard.
    const KEY: (&str, &str) = ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    const RIGHT: (&str, &str) = ("sec-websocket-version", "13");
    const PAGE: (&str, &str) = ("origin", "http://example.com");

    #[test]
    fn the_key_is_answered_as_the_standard_says() {
        let agreed = Handshake::read(&offered(&[
            KEY,
            RIGHT,
            PAGE,
            ("sec-websocket-protocol", "base64.binary.k8s.io"),
        ]));
        let response = agreed.expect("all is right").response();
        assert_eq!(response.status(), 101);
        assert_eq!(response.headers()[SEC_WEBSOCKET_ACCEPT], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(response.headers()[SEC_WEBSOCKET_PROTOCOL], "base64.binary.k8s.io");
    }

    #[test]
    fn an_invalid_handshake_is_refused() {
        let cases: [(&[(&str, &str)], Refusal); 5] = [
            (&[RIGHT, PAGE], Refusal::NoKey),
            (&[KEY, PAGE], Refusal::Version),
            (&[KEY, RIGHT], Refusal::Origin),
            (&[KEY, RIGHT, ("origin", "null")], Refusal::Origin),
            (
                &[KEY, RIGHT, PAGE, ("sec-websocket-protocol", "a, b")],
                Refusal::Protocols,
            ),
        ];
        for (headers, refusal) in cases {
            assert_eq!(Handshake::read(&offered(headers)).err(), Some(refusal), "{headers:?}");
        }
        assert_eq!(Refusal::Version.response().headers()[SEC_WEBSOCKET_VERSION], "13");
    }
}
