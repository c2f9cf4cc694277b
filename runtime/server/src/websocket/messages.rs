//! Messages of a watch, several in one chunk of bytes.

use bytes::{Buf as _, Bytes};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

/// The length of a message's header in a chunk: its type, and the length of its payload.
const HEADER: usize = 5;

/// Appends a message to a chunk.
pub(crate) fn push_message(is_text: bool, payload: &[u8], chunk: &mut Vec<u8>) {
    // No event is larger than an object may be.
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    chunk.reserve(HEADER + payload.len());
    chunk.push(is_text.into());
    chunk.extend_from_slice(&length.to_be_bytes());
    chunk.extend_from_slice(payload);
}

/// Returns the messages in a chunk, which share its memory.
pub(super) fn messages(mut chunk: Bytes) -> impl Iterator<Item = Message> {
    std::iter::from_fn(move || {
        if chunk.remaining() < HEADER {
            return None;
        }
        let kind = match chunk.get_u8() {
            0 => Data::Binary,
            _ => Data::Text,
        };
        let length = chunk.get_u32() as usize;
        let payload = chunk.split_to(length.min(chunk.len()));
        // The text of JSON is not checked again.
        Some(Message::Frame(Frame::message(payload, OpCode::Data(kind), true)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_of_a_chunk_as_they_were_put_in() {
        let mut chunk = Vec::new();
        let payloads = [&b"{}\n"[..], b"", &[7; 70_000]];
        for (number, payload) in payloads.iter().enumerate() {
            push_message(number % 2 == 0, payload, &mut chunk);
        }
        let found: Vec<_> = messages(chunk.into()).collect();
        let expected = (0..).zip(payloads).map(|(number, payload)| {
            let kind = if number % 2 == 0 { Data::Text } else { Data::Binary };
            Message::Frame(Frame::message(payload, OpCode::Data(kind), true))
        });
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
}
