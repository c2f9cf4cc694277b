//! Proxying: requests that another server answers, such as a program in a pod or an agent on a node.
//!
//! Reading order: [`Target`] (the server and path), [`Link`] (the connection), [`Dialer`] (its way, directly or through an
//! [`EgressProxy`]), [`forward`] (request and answer), [`tunnel`] (connections that are upgraded, for streams), [`fetch`] (a
//! streamed answer to a GET), [`OutboundRequest`] (one response, buffered).

mod answer;
mod connection_pool;
mod destination;
mod dialer;
mod egress;
mod escaped_path;
mod handshake;
mod identity;
mod link;
mod lookup;
mod outbound_request;
mod page;
mod page_limits;
mod refusal;
mod rewrite;
mod server_verifier;
mod shortest_path;
mod tags;
mod trust;
mod upgrade;

use std::collections::HashSet;

use axum::body::Body;
use axum::response::Response;
use http::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, LOCATION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use planesmith_access::upgrade::requests_upgrade;
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::endpoint::Call;
use crate::request::RequestInfo;
use crate::response::Relayed;

pub use self::answer::AnswerBody;
pub use self::destination::{Destination, is_proxyable};
pub use self::dialer::{BoxedStream, Dialer, Stream};
pub use self::egress::{EgressProxy, ProxyError, ProxyServer};
pub use self::escaped_path::{decoded_path, escaped_path};
pub use self::identity::{ClientIdentity, Pem, TrustError};
pub use self::link::{Link, LinkError};
pub use self::lookup::NameResolver;
pub use self::outbound_request::{BufferedResponse, OutboundRequest};
use self::rewrite::Rewriter;
pub use self::shortest_path::{shortest_path, shortest_segments};
pub use self::trust::{Trust, client_tls, client_tls_by, client_tls_to};
pub use self::upgrade::{UpgradeAnswer, is_switched_to, switch, tunnel};

/// Headers that belong to one connection.
const HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The target of a proxied request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// True if the connection uses TLS.
    pub secure: bool,
    /// The destination of the connection.
    pub destination: Destination,
    /// The path at the target, encoded; empty for the root that the client requested without a slash.
    pub path: String,
    /// The query, encoded, without the question mark.
    pub query: String,
}

impl Target {
    /// `host:port`, as in headers.
    #[must_use]
    pub fn authority(&self) -> String {
        self.destination.authority()
    }

    /// Returns the whole URL, for messages.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        let mark = if self.query.is_empty() { "" } else { "?" };
        format!("{scheme}://{}{}{mark}{}", self.authority(), self.path, self.query)
    }

    /// Returns the path and the query, for a request.
    ///
    /// # Errors
    ///
    /// They are not valid in a URI.
    pub fn uri(&self) -> Result<Uri, http::Error> {
        let mut text = match self.path.as_str() {
            "" => "/".to_owned(),
            path => path.to_owned(),
        };
        if !self.query.is_empty() {
            text.push('?');
            text.push_str(&self.query);
        }
        let path = PathAndQuery::try_from(text)?;
        Ok(Uri::from(path))
    }
}

/// Forwards a request to `target` and returns its answer. Links in `Location` and in pages are rewritten to lead
/// through this server; a request that upgrades its connection becomes a tunnel.
///
/// # Errors
///
/// 503 when the target cannot be reached, 400 when the destination is not allowed.
pub async fn forward(call: &Call, body: Body, target: &Target, link: &Link) -> ApiResult<Response> {
    let request = &call.parts;
    if requests_upgrade(&request.headers) {
        return tunnel(call, target, link).await;
    }
    if target.path.is_empty() && matches!(request.method, Method::GET | Method::HEAD) {
        return Ok(redirect_to_slash(request));
    }
    let rewriter = Rewriter::new(request, target);
    let mut headers = passed_on(&request.headers);
    rewriter.announce(target, &mut headers);
    append_sender(call, &mut headers);
    let unreachable = |error: LinkError| match error {
        LinkError::NotAllowed => ApiError::bad_request(error.to_string()),
        error => ApiError::service_unavailable(format!("error trying to reach service: {error}")),
    };
    let answer = send_body(&request.method, headers, body, target, link).await;
    let answer = answer.map_err(unreachable)?;
    let (mut head, body) = answer.into_parts();
    head.headers = end_to_end(&head.headers);
    let there = target.clone();
    let rewrite = move |link: &str| rewriter.rewrite(link, &there);
    let body = match head.headers.get(LOCATION).and_then(|location| location.to_str().ok()) {
        Some(location) => {
            if let Ok(location) = HeaderValue::try_from(rewrite(location)) {
                head.headers.insert(LOCATION, location);
            }
            Body::new(body)
        }
        None if page::is_page(&head.headers) && request.method != Method::HEAD => {
            let page = page::rewritten(&mut head.headers, body, link.page_limits(), rewrite).await;
            page.map_err(unreachable)?
        }
        None => Body::new(body),
    };
    // Pages of the target do not decide about cross-origin access to this server.
    let cross_origin = |name: &HeaderName| name.as_str().starts_with("access-control-");
    let dropped: Vec<HeaderName> = head.headers.keys().filter(|name| cross_origin(name)).cloned().collect();
    for name in dropped {
        head.headers.remove(name);
    }
    let mut response = Response::new(body);
    *response.status_mut() = head.status;
    *response.headers_mut() = head.headers;
    response.extensions_mut().insert(Relayed);
    Ok(response)
}

/// Sends a GET request to `target` and returns the answer, whose body is streamed.
///
/// # Errors
///
/// The target cannot be reached.
pub async fn fetch(target: &Target, link: &Link) -> Result<http::Response<AnswerBody>, LinkError> {
    send(&Method::GET, HeaderMap::new(), target, link).await
}

/// Sends a request without a body to `target` and returns the answer, whose body is streamed.
///
/// # Errors
///
/// The target cannot be reached.
pub async fn send(
    method: &Method,
    headers: HeaderMap,
    target: &Target,
    link: &Link,
) -> Result<http::Response<AnswerBody>, LinkError> {
    send_body(method, headers, Body::empty(), target, link).await
}

async fn send_body(
    method: &Method,
    mut headers: HeaderMap,
    body: Body,
    target: &Target,
    link: &Link,
) -> Result<http::Response<AnswerBody>, LinkError> {
    if !headers.contains_key(HOST) {
        headers.insert(
            HOST,
            HeaderValue::try_from(target.authority()).map_err(|_| LinkError::Address)?,
        );
    }
    let mut request = Request::new(body);
    request.method_mut().clone_from(method);
    *request.uri_mut() = target.uri().map_err(|_| LinkError::Address)?;
    *request.headers_mut() = headers;
    link.send(target, request).await
}

/// Removes the hop-by-hop headers of a request, and those that its client lists in `Connection`. Only a requested
/// upgrade is kept.
///
/// To be called before headers that the target trusts are added: a client could have those removed later.
pub fn leave_connection(headers: &mut HeaderMap) {
    let mut kept = passed_on(headers);
    if requests_upgrade(headers) {
        for protocol in headers.get_all(UPGRADE) {
            kept.append(UPGRADE, protocol.clone());
        }
        kept.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    }
    *headers = kept;
}

/// Returns the headers of a request that the target gets: those that do not belong to the connection, and the client's readiness
/// to read trailers.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut kept = end_to_end(headers);
    let tokens = headers.get_all(TE).iter().filter_map(|value| value.to_str().ok());
    let mut tokens = tokens.flat_map(|value| value.split(','));
    if tokens.any(|token| token.trim().eq_ignore_ascii_case("trailers")) {
        kept.insert(TE, HeaderValue::from_static("trailers"));
    }
    kept
}

/// The headers without hop-by-hop headers.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let named: HashSet<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if !HOP_BY_HOP.contains(name) && !named.contains(name.as_str()) {
            kept.append(name, value.clone());
        }
    }
    kept
}

/// Appends the client's address to `X-Forwarded-For`.
fn append_sender(call: &Call, headers: &mut HeaderMap) {
    let Some(peer) = call.ctx.peer else { return };
    let before = headers
        .get_all(FORWARDED_FOR)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let all: Vec<String> = before.map(str::to_owned).chain([peer.to_string()]).collect();
    if let Ok(value) = HeaderValue::try_from(all.join(", ")) {
        headers.insert(FORWARDED_FOR, value);
    }
}

/// Relative links of the page at the root only work if its address ends in a slash.
fn redirect_to_slash(request: &Parts) -> Response {
    let query = request.uri.query().map_or(String::new(), |query| format!("?{query}"));
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    if let Ok(location) = HeaderValue::try_from(format!("{}/{query}", request.uri.path())) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// The part of a request's encoded path behind the subresource `proxy`, with its leading slash.
#[must_use]
pub fn rest_of_path(request: &Parts) -> String {
    let info = RequestInfo::new(&request.method, &request.uri);
    info.encoded_rest(&request.uri).to_owned()
}

#[cfg(test)]
mod tests;
