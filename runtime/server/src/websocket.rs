//! WebSocket (RFC 6455), as far as this server speaks it itself: it tells messages, and passes over what a client says.
//!
//! Streams into workloads go through as they are: see the proxy.

mod frame;
mod handshake;

use std::io;
use std::pin::pin;

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

pub(crate) use self::frame::push_message;
use self::frame::{Heard, NORMAL, PROTOCOL_ERROR, close, hear, pong};
use self::handshake::Handshake;
pub(crate) use self::handshake::is_asked_for;
use crate::failure;

/// Goes on in WebSocket and tells `frames`, until they end or the client does. Each chunk is whole frames.
pub(crate) fn answer(request: &Parts, frames: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let handshake = match Handshake::read(request) {
        Ok(handshake) => handshake,
        Err(refused) => return refused.response(),
    };
    let Some(upgrade) = request.extensions.get::<OnUpgrade>().cloned() else {
        return failure::text(StatusCode::BAD_REQUEST, "the connection cannot change its protocol\n");
    };
    tokio::spawn(async move {
        let spoken = match upgrade.await {
            Ok(connection) => speak(TokioIo::new(connection), frames).await,
            Err(error) => Err(io::Error::other(error)),
        };
        if let Err(error) = spoken {
            tracing::debug!(%error, "a WebSocket broke");
        }
    });
    handshake.response()
}

async fn speak(connection: impl AsyncRead + AsyncWrite, frames: impl Stream<Item = Bytes>) -> io::Result<()> {
    let (reader, mut writer) = tokio::io::split(connection);
    let (sender, mut pongs) = mpsc::channel(1);
    let mut frames = pin!(frames);
    let telling = async {
        loop {
            let frame = tokio::select! {
                frame = frames.next() => frame,
                Some(pong) = pongs.recv() => Some(pong),
            };
            let Some(frame) = frame else { return io::Result::Ok(()) };
            writer.write_all(&frame).await?;
            writer.flush().await?;
        }
    };
    let status = tokio::select! {
        told = telling => told.map(|()| NORMAL)?,
        status = listen(reader, sender) => status,
    };
    writer.write_all(&close(status)).await?;
    writer.shutdown().await
}

/// Listens until the client ends or breaks the rules, and hands on answers to its pings. Returns with which status to close.
async fn listen(reader: impl AsyncRead + Unpin, pongs: mpsc::Sender<Bytes>) -> u16 {
    let mut reader = BufReader::new(reader);
    loop {
        match hear(&mut reader).await {
            Ok(Heard::Ping(payload)) => {
                if pongs.send(pong(&payload)).await.is_err() {
                    return NORMAL;
                }
            }
            Ok(Heard::Message) => {}
            Ok(Heard::Bare) => return PROTOCOL_ERROR,
            Ok(Heard::Close) | Err(_) => return NORMAL,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// What a client hears that says `said`, while `frames` are told.
    async fn heard(said: &[u8], frames: impl Stream<Item = Bytes>) -> Vec<u8> {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        client.write_all(said).await.expect("there is room");
        speak(server, frames).await.expect("nothing breaks");
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
        assert!(heard.ends_with(&[0x88, 2, 3, 0xe8]), "{heard:?}");
    }

    #[tokio::test]
    async fn frames_without_a_mask_are_against_the_rules() {
        assert_eq!(heard(&[0x81, 1, b'x'], stream::pending()).await, [0x88, 2, 3, 0xea]);
    }
}
