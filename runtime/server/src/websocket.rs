//! WebSocket: the handshake of every such connection, and connections in one direction, on which the server sends messages and
//! ignores those of the client.

mod handshake;
mod messages;

use std::pin::pin;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream::{BoxStream, SplitSink};
use futures_util::{SinkExt as _, StreamExt as _};
use http::StatusCode;
use http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

pub(crate) use self::handshake::requests_web_socket;
pub use self::handshake::{Handshake, Refusal, offered_protocols, offers_protocol};
use self::messages::messages;
pub(crate) use self::messages::push_message;
use crate::response;
use crate::task;

/// Maximum time for a client to read one chunk.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of a client's message, in bytes. They are ignored, and each connection has memory for one.
const MAX_IGNORED: usize = 64 << 10;

/// Maximum bytes that wait until the client reads them, besides the message that is being written.
const MAX_WAITING: usize = 1 << 20;

/// Upgrades to WebSocket and sends the messages in `chunks` (see [`push_message`]), until they end or the client closes the
/// connection.
pub(crate) fn answer(request: &Parts, chunks: BoxStream<'static, Bytes>) -> Response {
    let handshake = match Handshake::read(request) {
        Ok(handshake) => handshake,
        Err(refused) => return refused.response(),
    };
    let Some(upgrade) = request.extensions.get::<OnUpgrade>().cloned() else {
        return response::plain_text(StatusCode::BAD_REQUEST, "the connection cannot change its protocol\n");
    };
    task::spawn(async move {
        let sent = match upgrade.await {
            Ok(connection) => serve(TokioIo::new(connection), chunks, CHUNK_TIMEOUT).await,
            Err(error) => Err(Error::Io(std::io::Error::other(error))),
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "a WebSocket broke");
        }
    });
    handshake.response()
}

async fn serve(
    connection: impl AsyncRead + AsyncWrite + Unpin,
    chunks: impl Stream<Item = Bytes>,
    timeout: Duration,
) -> Result<(), Error> {
    let config = WebSocketConfig::default()
        .write_buffer_size(0)
        .max_write_buffer_size(MAX_WAITING)
        .read_buffer_size(4 << 10)
        .max_message_size(Some(MAX_IGNORED))
        .max_frame_size(Some(MAX_IGNORED));
    let socket = WebSocketStream::from_raw_socket(connection, Role::Server, Some(config)).await;
    let (mut sink, source) = socket.split();
    let code = tokio::select! {
        sent = send_all(&mut sink, chunks, timeout) => {
            sent?;
            CloseCode::Normal
        }
        ended = ignore_all(source) => match ended {
            // The close frame of the client is answered.
            None => return Ok(()),
            Some(code) => code,
        },
    };
    let close = Message::Close(Some(CloseFrame {
        code,
        reason: "".into(),
    }));
    in_time(timeout, sink.send(close)).await
}

async fn send_all<S: AsyncRead + AsyncWrite + Unpin>(
    sink: &mut SplitSink<WebSocketStream<S>, Message>,
    chunks: impl Stream<Item = Bytes>,
    timeout: Duration,
) -> Result<(), Error> {
    let mut chunks = pin!(chunks);
    while let Some(chunk) = chunks.next().await {
        in_time(timeout, async {
            for message in messages(chunk) {
                sink.feed(message).await?;
            }
            sink.flush().await
        })
        .await?;
    }
    Ok(())
}

/// Waits for a client that does not read, up to `timeout`.
async fn in_time(timeout: Duration, sending: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    let sent = tokio::time::timeout(timeout, sending).await;
    sent.unwrap_or_else(|_| Err(Error::Io(std::io::ErrorKind::TimedOut.into())))
}

/// Reads until the connection ends; pings are answered. Returns the reason for which the server closes it, if it does.
async fn ignore_all(mut source: impl Stream<Item = Result<Message, Error>> + Unpin) -> Option<CloseCode> {
    loop {
        match source.next().await? {
            Ok(_) => {}
            Err(Error::Capacity(_)) => return Some(CloseCode::Size),
            Err(Error::Protocol(_)) => return Some(CloseCode::Protocol),
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// The bytes that a client receives when it sends `sent` during `chunks`.
    async fn received(sent: &[u8], chunks: impl Stream<Item = Bytes>) -> Vec<u8> {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        client.write_all(sent).await.expect("there is room");
        serve(server, chunks, CHUNK_TIMEOUT).await.expect("nothing breaks");
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.expect("it ends");
        received
    }

    #[tokio::test]
    async fn messages_are_sent_and_then_the_end() {
        let mut chunk = Vec::new();
        push_message(true, b"{}\n", &mut chunk);
        push_message(false, b"k8s", &mut chunk);
        let expected = [&[0x81, 3][..], b"{}\n", &[0x82, 3], b"k8s", &[0x88, 2, 3, 0xe8]].concat();
        assert_eq!(received(b"", stream::iter([Bytes::from(chunk)])).await, expected);
    }

    #[tokio::test]
    async fn a_client_that_closes_ends_messages_that_would_continue() {
        let masked_close = [0x88, 0x82, 0, 0, 0, 0, 3, 0xe8];
        assert_eq!(received(&masked_close, stream::pending()).await, [0x88, 2, 3, 0xe8]);
    }

    #[tokio::test]
    async fn pings_are_answered_and_messages_ignored() {
        let sent = [
            &[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'][..],
            &[0x89, 0x81, 1, 1, 1, 1, b'a' ^ 1],
            &[0x88, 0x82, 0, 0, 0, 0, 3, 0xe8],
        ];
        let received = received(&sent.concat(), stream::pending()).await;
        assert_eq!(received, [0x8a, 1, b'a', 0x88, 2, 3, 0xe8]);
    }

    #[tokio::test]
    async fn messages_and_pings_that_are_too_long_close_the_connection() {
        let message = [0x82, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(received(&message, stream::pending()).await, [0x88, 2, 3, 0xf1]);
        let ping = [&[0x89, 0xfe, 0, 126, 0, 0, 0, 0][..], &[0; 126]].concat();
        assert_eq!(received(&ping, stream::pending()).await, [0x88, 2, 3, 0xea]);
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_disconnected() {
        let (_client, server) = tokio::io::duplex(1 << 10);
        let mut chunk = Vec::new();
        push_message(true, &[b'x'; 4 << 10], &mut chunk);
        let sent = serve(server, stream::repeat(chunk.into()), Duration::ZERO).await;
        assert!(matches!(sent, Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::TimedOut));
    }

    #[tokio::test]
    async fn frames_without_a_mask_violate_the_protocol() {
        assert_eq!(received(&[0x81, 1, b'x'], stream::pending()).await, [0x88, 2, 3, 0xea]);
    }
}
