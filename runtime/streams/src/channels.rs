//! Connections with streams in both directions, for which `tokio-tungstenite` is used after the upgrade.

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{HeaderMap, HeaderValue, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION};
use http::request::Parts;
use http::{Method, StatusCode};
use hyper::upgrade::OnUpgrade;
use planesmith_server::response;
use planesmith_server::websocket::Handshake;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// Maximum size of a client's message, in bytes, as in kube-apiserver.
const MAX_MESSAGE: usize = 32 << 20;

/// Maximum bytes that wait until the client reads them, besides the message that is being written.
const MAX_WAITING: usize = 1 << 20;

/// The limits of such a connection.
pub(crate) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(0)
        .max_write_buffer_size(MAX_WAITING)
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE))
}

/// The upgrade of a connection to WebSocket.
pub(crate) struct ChannelHandshake;

impl ChannelHandshake {
    /// Accepts `protocol`, as kube-apiserver does for streams that it serves itself.
    ///
    /// # Errors
    ///
    /// The answer to a client that does not offer the protocol.
    pub(crate) fn accept(request: &Parts, protocol: &'static str) -> Result<(OnUpgrade, Response), Box<Response>> {
        let handshake = Handshake::for_protocol(request, protocol);
        let handshake = handshake.map_err(|refused| Box::new(refused.response()))?;
        Ok((upgrade(request)?, handshake.response()))
    }

    /// Accepts the protocol that another server chose, as kube-apiserver does for tunnels.
    ///
    /// # Errors
    ///
    /// The answer to a client whose handshake is invalid.
    pub(crate) fn accept_tunnel(
        request: &Parts,
        protocol: Option<HeaderValue>,
    ) -> Result<(OnUpgrade, Response), Box<Response>> {
        if request.method != Method::GET {
            return Err(refused(StatusCode::METHOD_NOT_ALLOWED));
        }
        if !has_key(&request.headers) {
            return Err(refused(StatusCode::BAD_REQUEST));
        }
        let handshake = Handshake::accepting(request, protocol).map_err(|_| refused(StatusCode::BAD_REQUEST))?;
        Ok((upgrade(request)?, handshake.response()))
    }
}

fn upgrade(request: &Parts) -> Result<OnUpgrade, Box<Response>> {
    let upgrade = request.extensions.get::<OnUpgrade>().cloned();
    let why = "the connection cannot change its protocol\n";
    upgrade.ok_or_else(|| Box::new(response::plain_text(StatusCode::BAD_REQUEST, why)))
}

/// True if the key has 16 bytes, as required.
fn has_key(headers: &HeaderMap) -> bool {
    let key = headers.get(SEC_WEBSOCKET_KEY).and_then(|key| STANDARD.decode(key).ok());
    key.is_some_and(|key| key.len() == 16)
}

/// An answer with the name of the status, which is the whole body for an invalid handshake.
fn refused(status: StatusCode) -> Box<Response> {
    let reason = status.canonical_reason().unwrap_or_default();
    let mut response = response::plain_text(status, format!("{reason}\n"));
    let version = HeaderValue::from_static("13");
    response.headers_mut().insert(SEC_WEBSOCKET_VERSION, version);
    Box::new(response)
}
