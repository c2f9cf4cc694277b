//! Connections through HTTP proxies: the request with the method CONNECT, and its answer.

use std::error::Error as _;
use std::io;

use bytes::Bytes;
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper::ext::ReasonPhrase;
use hyper::upgrade::{self, Parts};
use hyper_util::rt::TokioIo;

use super::ProxyError;
use crate::proxy::dialer::BoxedStream;
use crate::task;

/// The header that kube-apiserver sends.
const OWN_HOST: &str = "127.0.0.1";

/// Requests a connection to `address` from the HTTP proxy behind `stream`, and returns it. `proxy` is its name in messages.
///
/// # Errors
///
/// The answer is not 200, or not valid HTTP.
pub(super) async fn tunnel(stream: BoxedStream, proxy: &str, address: &str) -> Result<BoxedStream, ProxyError> {
    let failed = |problem| ProxyError::Response {
        address: address.to_owned(),
        proxy: proxy.to_owned(),
        problem,
    };
    let unreadable = |error: hyper::Error| failed(go_message(&error));
    let request = Request::connect(address)
        .header(HOST, OWN_HOST)
        .body(Empty::<Bytes>::new());
    let request = request.map_err(|error| failed(error.to_string()))?;
    let mut builder = http1::Builder::new();
    builder.title_case_headers(true);
    let (mut requests, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(unreadable)?;
    // Ends with the answer, or when its sender is dropped.
    task::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to a proxy broke");
        }
    });
    let answer = requests.send_request(request).await.map_err(unreadable)?;
    if answer.status() != StatusCode::OK {
        return Err(ProxyError::Refused {
            address: address.to_owned(),
            proxy: proxy.to_owned(),
            code: answer.status().as_u16(),
            status: status_line(&answer),
        });
    }
    let upgraded = upgrade::on(answer).await.map_err(unreadable)?;
    let parts = upgraded.downcast::<TokioIo<BoxedStream>>();
    let Parts { io, read_buf, .. } = parts.map_err(|_| failed("the connection is of another type".to_owned()))?;
    match read_buf.len() {
        0 => Ok(io.into_inner()),
        // The client of the connection has sent nothing yet, so no server has a reason to answer.
        bytes => Err(ProxyError::EarlyData {
            bytes,
            proxy: proxy.to_owned(),
        }),
    }
}

/// The status code and the text that the proxy sent with it.
fn status_line<B>(answer: &http::Response<B>) -> String {
    let sent = answer.extensions().get::<ReasonPhrase>().map(ReasonPhrase::as_bytes);
    let text = match sent {
        Some(sent) => String::from_utf8_lossy(sent),
        None => answer.status().canonical_reason().unwrap_or_default().into(),
    };
    format!("{} {text}", answer.status().as_str())
}

/// The problem of an answer, in Go's words where Go has them.
fn go_message(error: &hyper::Error) -> String {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    match source.map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionReset) => "read: connection reset by peer".to_owned(),
        Some(io::ErrorKind::UnexpectedEof) => "unexpected EOF".to_owned(),
        _ if error.is_incomplete_message() => "unexpected EOF".to_owned(),
        _ if error.is_parse() => "malformed HTTP response".to_owned(),
        _ => error.to_string(),
    }
}
