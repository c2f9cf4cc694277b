//! The messages of a konnectivity server's `ProxyService`, in protobuf.

use bytes::Bytes;
use planesmith_machinery::protobuf::{DecodeError, Fields, Wire, write_bytes, write_int, write_message};

/// A message of either side. Connections are numbered by the server, attempts to open one by the client (`random`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::proxy::egress) enum Packet {
    /// Requests a connection over TCP.
    DialRequest {
        /// `host:port`.
        address: String,
        random: i64,
    },
    /// The answer to a request; without an error the connection is open.
    DialResponse {
        error: String,
        connection: i64,
        random: i64,
    },
    /// Requests that a connection is closed.
    CloseRequest { connection: i64 },
    /// A connection is closed.
    CloseResponse { error: String, connection: i64 },
    /// Data of a connection.
    Data { connection: i64, data: Bytes },
    /// Either side no longer waits for a connection.
    CloseDial { random: i64 },
    /// A message that does not matter to clients.
    Other,
}

/// Numbers of the types.
const DIAL_REQUEST: i64 = 0;
const DIAL_RESPONSE: i64 = 1;
const CLOSE_REQUEST: i64 = 2;
const CLOSE_RESPONSE: i64 = 3;
const DATA: i64 = 4;
const CLOSE_DIAL: i64 = 5;

/// The field with the type.
const TYPE: u32 = 1;

/// The types by the fields with their contents, from the second on.
const CONTENTS: [i64; 6] = [
    DIAL_REQUEST,
    DIAL_RESPONSE,
    DATA,
    CLOSE_REQUEST,
    CLOSE_RESPONSE,
    CLOSE_DIAL,
];

/// The content of a message, whose fields have the same numbers in few types.
#[derive(Default)]
struct Content {
    numbers: [i64; 4],
    texts: [Bytes; 4],
}

impl Packet {
    /// Appends the message.
    pub(in crate::proxy::egress) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Packet::DialRequest { address, random } => content(out, DIAL_REQUEST, |out| {
                write_bytes(out, 1, b"tcp");
                write_bytes(out, 2, address.as_bytes());
                write_int(out, 3, *random);
            }),
            Packet::DialResponse {
                error,
                connection,
                random,
            } => content(out, DIAL_RESPONSE, |out| {
                write_bytes(out, 1, error.as_bytes());
                write_int(out, 2, *connection);
                write_int(out, 3, *random);
            }),
            Packet::CloseRequest { connection } => content(out, CLOSE_REQUEST, |out| write_int(out, 1, *connection)),
            Packet::CloseResponse { error, connection } => content(out, CLOSE_RESPONSE, |out| {
                write_bytes(out, 1, error.as_bytes());
                write_int(out, 2, *connection);
            }),
            Packet::Data { connection, data } => content(out, DATA, |out| {
                write_int(out, 1, *connection);
                write_bytes(out, 3, data);
            }),
            Packet::CloseDial { random } => content(out, CLOSE_DIAL, |out| write_int(out, 1, *random)),
            Packet::Other => {}
        }
    }

    /// Reads a message. Its data shares the memory of `bytes`.
    ///
    /// # Errors
    ///
    /// It is not valid protobuf.
    pub(in crate::proxy::egress) fn decode(bytes: &Bytes) -> Result<Packet, DecodeError> {
        let (mut kind, mut found) = (DIAL_REQUEST, None);
        let mut fields = Fields::new(bytes, "Packet");
        while let Some((number, value)) = fields.next()? {
            match number {
                TYPE => kind = value.int("type")?,
                number => {
                    if let Some(type_) = CONTENTS.get((number as usize).wrapping_sub(2)) {
                        found = Some((*type_, value.bytes("payload")?));
                    }
                }
            }
        }
        // A content of another type counts as absent.
        let payload = found
            .filter(|(type_, _)| *type_ == kind)
            .map_or(&[][..], |(_, payload)| payload);
        let content = Content::read(bytes, payload)?;
        let text = |number: usize| String::from_utf8_lossy(&content.texts[number]).into_owned();
        let number = |number: usize| content.numbers[number];
        Ok(match kind {
            DIAL_REQUEST => Packet::DialRequest {
                address: text(2),
                random: number(3),
            },
            DIAL_RESPONSE => Packet::DialResponse {
                error: text(1),
                connection: number(2),
                random: number(3),
            },
            CLOSE_REQUEST => Packet::CloseRequest { connection: number(1) },
            CLOSE_RESPONSE => Packet::CloseResponse {
                error: text(1),
                connection: number(2),
            },
            DATA => Packet::Data {
                connection: number(1),
                data: content.texts[3].clone(),
            },
            CLOSE_DIAL => Packet::CloseDial { random: number(1) },
            _ => Packet::Other,
        })
    }
}

impl Content {
    /// Reads the fields of `payload`, which is a part of `all`.
    fn read(all: &Bytes, payload: &[u8]) -> Result<Self, DecodeError> {
        let mut content = Self::default();
        let mut fields = Fields::new(payload, "Packet");
        while let Some((number, value)) = fields.next()? {
            let at = number as usize;
            if !(1..content.numbers.len()).contains(&at) {
                continue;
            }
            match value {
                Wire::Bytes(bytes) => content.texts[at] = all.slice_ref(bytes),
                value => content.numbers[at] = value.int("payload")?,
            }
        }
        Ok(content)
    }
}

/// Appends a message of the type `kind`, whose content `write` appends.
fn content(out: &mut Vec<u8>, kind: i64, write: impl FnOnce(&mut Vec<u8>)) {
    if kind != DIAL_REQUEST {
        write_int(out, TYPE, kind);
    }
    let field = (2..).zip(CONTENTS).find(|(_, of)| *of == kind);
    let (field, _) = field.expect("each type has a content");
    write_message(out, field, write);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(packet: &Packet) -> Bytes {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        bytes.into()
    }

    #[test]
    fn requests_are_encoded_as_by_go() {
        let dial = Packet::DialRequest {
            address: "a:1".to_owned(),
            random: 7,
        };
        assert_eq!(encoded(&dial)[..], *b"\x12\x0c\x0a\x03tcp\x12\x03a:1\x18\x07");
        let data = Packet::Data {
            connection: 3,
            data: Bytes::from_static(b"x"),
        };
        assert_eq!(encoded(&data)[..], *b"\x08\x04\x22\x05\x08\x03\x1a\x01x");
    }

    #[test]
    fn messages_are_read_back() {
        for packet in [
            Packet::DialRequest {
                address: "node.example:10250".to_owned(),
                random: 1,
            },
            Packet::DialResponse {
                error: String::new(),
                connection: 300,
                random: i64::MAX,
            },
            Packet::CloseRequest { connection: 1 },
            Packet::CloseResponse {
                error: "reset".to_owned(),
                connection: 2,
            },
            Packet::Data {
                connection: 2,
                data: Bytes::from_static(b"some"),
            },
            Packet::CloseDial { random: 5 },
        ] {
            assert_eq!(Packet::decode(&encoded(&packet)), Ok(packet));
        }
    }

    #[test]
    fn unknown_and_malformed_messages_are_told_apart() {
        // DRAIN, with a field that is not known.
        assert_eq!(
            Packet::decode(&Bytes::from_static(b"\x08\x06\x42\x00\x48\x01")),
            Ok(Packet::Other)
        );
        assert_eq!(
            Packet::decode(&Bytes::from_static(b"\x08\x05\x22\x02\x08\x01")),
            Ok(Packet::CloseDial { random: 0 })
        );
        assert!(Packet::decode(&Bytes::from_static(b"\x08\x04\x22\x05\x08")).is_err());
    }
}
