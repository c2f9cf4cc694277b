//! WebSocket (RFC 6455) in one direction: the server sends messages, and ignores those of the client.
//!
//! Streams into workloads use `tokio-tungstenite`: see `remote_command` and the proxy.

mod channels;
mod frame;
mod handshake;

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt as _;
use http::StatusCode;
use http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

pub(crate) use self::channels::{ChannelHandshake, config};
pub(crate) use self::frame::push_message;
use self::frame::{Heard, NORMAL, close, hear, pong};
use self::handshake::Handshake;
pub(crate) use self::handshake::{is_asked_for, offered_protocols, offers_protocol};
use crate::response;

/// Maximum time for a client to read one chunk.
const PATIENCE: Duration = Duration::from_secs(60);

/// Upgrades to WebSocket and sends `frames`, until they end or the client closes the connection. Each chunk consists of
/// whole frames.
pub(crate) fn answer(request: &Parts, frames: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let handshake = match Handshake::read(request) {
        Ok(handshake) => handshake,
        Err(refused) => return refused.response(),
    };
    let Some(upgrade) = request.extensions.get::<OnUpgrade>().cloned() else {
        return response::plain_text(StatusCode::BAD_REQUEST, "the connection cannot change its protocol\n");
    };
    tokio::spawn(async move {
        let spoken = match upgrade.await {
            Ok(connection) => speak(TokioIo::new(connection), frames, PATIENCE).await,
            Err(error) => Err(io::Error::other(error)),
        };
        if let Err(error) = spoken {
            tracing::debug!(%error, "a WebSocket broke");
        }
    });
    handshake.response()
}

/// An answer to the client that is sent between two frames.
enum Answer {
    Pong(Bytes),
    /// The end, with a status code.
    Close(u16),
}

async fn speak(
    connection: impl AsyncRead + AsyncWrite,
    frames: impl Stream<Item = Bytes>,
    patience: Duration,
) -> io::Result<()> {
    let (reader, mut writer) = tokio::io::split(connection);
    let (sender, mut answers) = mpsc::channel(1);
    let telling = async {
        let mut frames = pin!(frames);
        let status = loop {
            let frame = tokio::select! {
                frame = frames.next() => frame,
                Some(answer) = answers.recv() => match answer {
                    Answer::Pong(pong) => Some(pong),
                    Answer::Close(status) => break status,
                },
            };
            let Some(frame) = frame else { break NORMAL };
            in_time(patience, tell(&mut writer, &frame)).await?;
        };
        in_time(patience, tell(&mut writer, &close(status))).await?;
        in_time(patience, writer.shutdown()).await
    };
    // The connection ends with `frames`: a frame is never cut by an answer to the client.
    tokio::select! {
        told = telling => told,
        never = listen(reader, sender) => match never {},
    }
}

async fn tell(writer: &mut (impl AsyncWrite + Unpin), frame: &[u8]) -> io::Result<()> {
    writer.write_all(frame).await?;
    writer.flush().await
}

/// Waits for a client that does not read, up to `patience`.
async fn in_time(patience: Duration, telling: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    let told = tokio::time::timeout(patience, telling).await;
    told.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Reads until the client closes the connection or violates the protocol, and requests answers to its frames.
async fn listen(reader: impl AsyncRead + Unpin, answers: mpsc::Sender<Answer>) -> Infallible {
    let mut reader = BufReader::new(reader);
    loop {
        let answer = match hear(&mut reader).await {
            Ok(Heard::Message) => continue,
            Ok(Heard::Ping(payload)) => Answer::Pong(pong(&payload)),
            Ok(Heard::Against(status)) => Answer::Close(status),
            Ok(Heard::Close) | Err(_) => Answer::Close(NORMAL),
        };
        let is_last = matches!(answer, Answer::Close(_));
        if answers.send(answer).await.is_err() || is_last {
            // The sending side ends both sides.
            return std::future::pending().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// The bytes a client receives when it sends `said` during `frames`.
    async fn heard(said: &[u8], frames: impl Stream<Item = Bytes>) -> Vec<u8> {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        client.write_all(said).await.expect("there is room");
        speak(server, frames, PATIENCE).await.expect("nothing breaks");
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).await.expect("it ends");
        heard
    }

    #[tokio::test]
    async fn messages_are_told_and_then_the_end() {
        let mut message = Vec::new();
        push_message(true, b"{}\n", &mut message);
        let expected = [&message[..], &[0x88, 2, 3, 0xe8]].concat();
        assert_eq!(heard(b"", stream::iter([Bytes::from(message)])).await, expected);
    }

    #[tokio::test]
    async fn a_client_that_closes_ends_what_would_go_on() {
        let masked_close = [0x88, 0x80, 1, 2, 3, 4];
        assert_eq!(heard(&masked_close, stream::pending()).await, [0x88, 2, 3, 0xe8]);
    }

    #[tokio::test]
    async fn pings_are_answered_and_messages_passed_over() {
        let said = [
            &[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'][..],
            &[0x89, 0x81, 1, 1, 1, 1, b'a' ^ 1],
            &[0x88, 0x80, 0, 0, 0, 0],
        ];
        let heard = heard(&said.concat(), stream::pending()).await;
        assert_eq!(heard, [0x8a, 1, b'a', 0x88, 2, 3, 0xe8]);
    }

    #[tokio::test]
    async fn messages_and_pings_that_are_too_long_end_the_conversation() {
        let message = [0x82, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(heard(&message, stream::pending()).await, [0x88, 2, 3, 0xf1]);
        let ping = [0x89, 0xfe, 0, 126, 0, 0, 0, 0];
        assert_eq!(heard(&ping, stream::pending()).await, [0x88, 2, 3, 0xea]);
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_left() {
        let (_client, server) = tokio::io::duplex(1 << 10);
        let frames = stream::repeat(Bytes::from(vec![b'x'; 4 << 10]));
        let told = speak(server, frames, Duration::ZERO).await;
        assert_eq!(told.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
    }

    #[tokio::test]
    async fn frames_without_a_mask_are_against_the_rules() {
        assert_eq!(heard(&[0x81, 1, b'x'], stream::pending()).await, [0x88, 2, 3, 0xea]);
    }
}
