//! SPDY inside of WebSocket, for port forwarding by clients behind proxies that pass only WebSocket.

use std::io;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{
    CONNECTION, HeaderMap, HeaderName, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderValue, Method, StatusCode};
use hyper_util::rt::TokioIo;
use planesmith_machinery::feature::Features;
use planesmith_machinery::status::ApiResult;
use planesmith_server::endpoint::Call;
use planesmith_server::proxy::{Link, Target, UpgradeAnswer, is_switched_to, leave_connection, switch};
use planesmith_server::websocket::{offered_protocols, offers_protocol};
use planesmith_server::{response, task};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::channels::{ChannelHandshake, config};
use crate::features::PORT_FORWARD_WEBSOCKETS;
use crate::spdy;

/// The prefix of the protocols of SPDY streams, as clients offer them in WebSocket.
const PREFIX: &str = "SPDY/3.1+";
const SUFFIX: &str = ".k8s.io";

/// Time that a client has to accept the notice that the target has closed its connection.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a message to the client, in bytes.
const MAX_MESSAGE: usize = 32 << 10;

const STREAM_PROTOCOL: HeaderName = HeaderName::from_static("x-stream-protocol-version");

/// True for requests that [`tunnel_spdy`] answers on a server with `features`.
#[must_use]
pub fn is_spdy_tunnel(headers: &HeaderMap, features: &Features) -> bool {
    features.has(&PORT_FORWARD_WEBSOCKETS) && offers_protocol(headers, |offered| tunneled(offered).is_some())
}

/// The stream protocol in an offered WebSocket protocol.
fn tunneled(offered: &str) -> Option<&str> {
    let protocol = offered.strip_prefix(PREFIX)?;
    protocol.ends_with(SUFFIX).then_some(protocol)
}

/// Upgrades a request's connection to WebSocket, in whose messages the client speaks SPDY with `target`. A refusal of
/// the target is returned to the client unchanged.
///
/// # Errors
///
/// 400 for a destination that is not allowed, 500 when the target cannot be reached.
pub async fn tunnel_spdy(call: &Call, target: &Target, link: &Link) -> ApiResult<Response> {
    let request = &call.parts;
    let headers = spdy_headers(&request.headers);
    let mut answer = match switch(call, target, link, &Method::POST, headers).await? {
        UpgradeAnswer::Done(answer) => answer,
        UpgradeAnswer::Refused(refusal) => return Ok(refusal),
    };
    if !is_switched_to(spdy::PROTOCOL, answer.headers()) {
        let why = "unable to upgrade: missing upgrade headers in response\n";
        return Ok(response::plain_text(StatusCode::INTERNAL_SERVER_ERROR, why));
    }
    let chosen = answer
        .headers()
        .get(STREAM_PROTOCOL)
        .and_then(|chosen| chosen.to_str().ok());
    let chosen = chosen.map(|chosen| format!("{PREFIX}{}", chosen.trim()));
    // A protocol that the client did not offer is not returned to it.
    let chosen = chosen.filter(|chosen| offered_protocols(&request.headers).any(|offered| offered == chosen));
    let chosen = chosen.and_then(|chosen| HeaderValue::try_from(chosen).ok());
    let (client, response) = match ChannelHandshake::accept_tunnel(request, chosen) {
        Ok(accepted) => accepted,
        Err(refused) => return Ok(*refused),
    };
    let backend = hyper::upgrade::on(&mut answer);
    task::spawn(async move {
        let relayed = match tokio::try_join!(client, backend) {
            Ok((client, backend)) => relay(TokioIo::new(client), TokioIo::new(backend)).await,
            Err(error) => Err(Error::Io(io::Error::other(error))),
        };
        if let Err(error) = relayed {
            tracing::debug!(%error, "a tunnel broke");
        }
    });
    Ok(response)
}

/// The headers of a request for the same streams without WebSocket.
fn spdy_headers(sent: &HeaderMap) -> HeaderMap {
    let mut headers = sent.clone();
    leave_connection(&mut headers);
    for name in [
        SEC_WEBSOCKET_PROTOCOL,
        SEC_WEBSOCKET_KEY,
        SEC_WEBSOCKET_VERSION,
        STREAM_PROTOCOL,
    ] {
        headers.remove(name);
    }
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static(spdy::PROTOCOL));
    for protocol in offered_protocols(sent).filter_map(tunneled) {
        if let Ok(protocol) = HeaderValue::try_from(protocol) {
            headers.append(STREAM_PROTOCOL, protocol);
        }
    }
    headers
}

/// Relays bytes in both directions, until one side ends.
async fn relay<C, B>(client: C, backend: B) -> Result<(), Error>
where
    C: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite,
{
    let mut client = WebSocketStream::from_raw_socket(client, Role::Server, Some(config())).await;
    let (mut reader, mut writer) = tokio::io::split(backend);
    let relayed = {
        let (mut sink, mut source) = (&mut client).split();
        let outward = async {
            while let Some(message) = source.next().await.transpose()? {
                match message {
                    Message::Binary(bytes) => {
                        writer.write_all(&bytes).await?;
                        writer.flush().await?;
                    }
                    Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
                    Message::Text(_) => return Err(Error::Io(io::ErrorKind::InvalidData.into())),
                    Message::Close(_) => break,
                }
            }
            Ok(())
        };
        let inward = async {
            let mut buffer = vec![0; MAX_MESSAGE];
            loop {
                match reader.read(&mut buffer).await? {
                    0 => return Ok(()),
                    read => {
                        sink.send(Message::Binary(Bytes::copy_from_slice(&buffer[..read])))
                            .await?
                    }
                }
            }
        };
        tokio::select! {
            done = outward => done,
            done = inward => done,
        }
    };
    let end = CloseFrame {
        code: CloseCode::Normal,
        reason: "".into(),
    };
    let ended = tokio::time::timeout(END_TIMEOUT, async {
        client.close(Some(end)).await?;
        while client.next().await.transpose()?.is_some() {}
        Ok::<(), Error>(())
    });
    // The target sees the end of its connection.
    let _ = tokio::join!(ended, writer.shutdown());
    relayed
}

#[cfg(test)]
mod tests;
