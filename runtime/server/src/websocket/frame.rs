//! WebSocket frames.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Status: all frames were sent.
pub(super) const NORMAL: u16 = 1000;
/// Status: the client violates the protocol.
const PROTOCOL_ERROR: u16 = 1002;
/// Status: the client's message is too large.
const TOO_LONG: u16 = 1009;

const FINAL: u8 = 0x80;
const MASKED: u8 = 0x80;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The bit that control frames have in their opcodes.
const CONTROL: u8 = 8;
/// Maximum payload of a control frame, in bytes.
const MAX_CONTROL: u64 = 125;
/// Maximum size of an ignored message, in bytes.
const MAX_MESSAGE: u64 = 32 << 20;

/// Appends a message in one frame.
pub(crate) fn push_message(is_text: bool, payload: &[u8], out: &mut Vec<u8>) {
    push_frame(if is_text { TEXT } else { BINARY }, payload, out);
}

/// A close frame.
pub(super) fn close(status: u16) -> Bytes {
    let mut out = Vec::new();
    push_frame(CLOSE, &status.to_be_bytes(), &mut out);
    out.into()
}

/// The answer to a ping.
pub(super) fn pong(payload: &[u8]) -> Bytes {
    let mut out = Vec::new();
    push_frame(PONG, payload, &mut out);
    out.into()
}

fn push_frame(opcode: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.reserve(payload.len() + 10);
    out.push(FINAL | opcode);
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(length @ ..=125), _) => out.push(length),
        (_, Ok(length)) => {
            out.push(126);
            out.extend_from_slice(&length.to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

/// A frame from a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A ping, to be answered.
    Ping(Vec<u8>),
    /// A message, which is ignored.
    Message,
    /// The client closes the connection.
    Close,
    /// A frame that closes the connection with this status: one without a mask, or one that is too long.
    Against(u16),
}

/// Reads one frame.
///
/// # Errors
///
/// The connection ends.
pub(super) async fn hear(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Heard> {
    let opcode = reader.read_u8().await? & 0x0f;
    let length = reader.read_u8().await?;
    if length & MASKED == 0 {
        return Ok(Heard::Against(PROTOCOL_ERROR));
    }
    let length = match length & !MASKED {
        126 => u64::from(reader.read_u16().await?),
        127 => reader.read_u64().await?,
        length => u64::from(length),
    };
    let mut mask = [0; 4];
    reader.read_exact(&mut mask).await?;
    if opcode == CLOSE {
        return Ok(Heard::Close);
    }
    if length > MAX_MESSAGE {
        return Ok(Heard::Against(TOO_LONG));
    }
    if opcode & CONTROL != 0 && length > MAX_CONTROL {
        return Ok(Heard::Against(PROTOCOL_ERROR));
    }
    let mut payload = reader.take(length);
    if opcode != PING {
        tokio::io::copy(&mut payload, &mut tokio::io::sink()).await?;
        return Ok(Heard::Message);
    }
    let mut ping = Vec::new();
    payload.read_to_end(&mut ping).await?;
    ping.iter_mut()
        .zip(mask.iter().cycle())
        .for_each(|(byte, mask)| *byte ^= mask);
    Ok(Heard::Ping(ping))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_told_in_as_few_bytes_as_it_needs() {
        let start = |length: usize| {
            let mut frame = Vec::new();
            push_message(false, &vec![0; length], &mut frame);
            frame.truncate(frame.len() - length);
            frame
        };
        assert_eq!(start(125), [0x82, 125]);
        assert_eq!(start(126), [0x82, 126, 0, 126]);
        assert_eq!(start(65_536), [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[tokio::test]
    async fn pings_are_unmasked_and_what_is_behind_them_is_read() {
        let mut said = &[
            0x89,
            0x82,
            1,
            2,
            3,
            4,
            b'h' ^ 1,
            b'i' ^ 2,
            0x82,
            0xfe,
            0,
            1,
            0,
            0,
            0,
            0,
            9,
            0x88,
            0x80,
            0,
            0,
            0,
            0,
        ][..];
        assert_eq!(hear(&mut said).await.expect("a frame"), Heard::Ping(b"hi".to_vec()));
        assert_eq!(hear(&mut said).await.expect("a frame"), Heard::Message);
        assert_eq!(hear(&mut said).await.expect("a frame"), Heard::Close);
        assert!(hear(&mut said).await.is_err());
    }
}
