//! Checks of the `Host` header.

use axum::body::Body;
use axum::response::Response;
use http::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, StatusCode, Version};
use hyper::ext::ReasonPhrase;

/// The answer to a request over HTTP/1.1 whose `Host` header is missing, malformed or repeated: that of Go's server,
/// before any filter. `None` if the request is valid.
pub(super) fn refusal<B>(request: &Request<B>) -> Option<Response> {
    if request.version() == Version::HTTP_2 {
        return None;
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let why = match (hosts.next(), hosts.next()) {
        (Some(_), Some(_)) => None,
        (Some(host), None) if host.as_bytes().iter().copied().all(is_of_a_host) => return None,
        (Some(_), None) => Some("malformed Host header"),
        (None, _) if request.version() < Version::HTTP_11 || request.method() == Method::CONNECT => return None,
        (None, _) => Some("missing required Host header"),
    };
    // The status line contains the reason, too.
    let reason = why.map_or("Bad Request".to_owned(), |why| format!("Bad Request: {why}"));
    let mut response = Response::new(Body::from(format!("400 {reason}")));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if let Ok(reason) = ReasonPhrase::try_from(reason.into_bytes()) {
        response.extensions_mut().insert(reason);
    }
    Some(response)
}

/// True for the bytes that Go accepts in a `Host` header.
fn is_of_a_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$%&'()*+,-.:;=[]_~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_looked_at_as_go_does() {
        let said = |version: Version, hosts: &[&str]| {
            let mut request = Request::builder().version(version);
            for host in hosts {
                request = request.header(HOST, *host);
            }
            let refused = refusal(&request.body(()).unwrap())?;
            assert_eq!(refused.status(), 400);
            let reason = refused.extensions().get::<ReasonPhrase>().unwrap();
            Some(String::from_utf8(reason.as_bytes().to_vec()).unwrap())
        };
        let missing = "Bad Request: missing required Host header";
        assert_eq!(said(Version::HTTP_11, &[]).as_deref(), Some(missing));
        assert_eq!(
            said(Version::HTTP_11, &["a/b"]).as_deref(),
            Some("Bad Request: malformed Host header")
        );
        assert_eq!(said(Version::HTTP_11, &["a", "b"]).as_deref(), Some("Bad Request"));
        assert_eq!(said(Version::HTTP_11, &[""]), None);
        assert_eq!(said(Version::HTTP_11, &["[::1]:6443"]), None);
        assert_eq!(said(Version::HTTP_10, &[]), None);
        assert_eq!(said(Version::HTTP_2, &[]), None);
    }
}
