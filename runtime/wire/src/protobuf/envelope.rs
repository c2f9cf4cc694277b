//! The envelope that tells what a message is (`runtime.Unknown` behind four magic bytes).

use std::borrow::Cow;

use super::DecodeError;
use super::fields::{Fields, WireType, write_bytes, write_message, write_tag, write_varint};
use crate::type_meta::TypeMeta;

/// The start of every enveloped message.
pub const MAGIC: &[u8; 4] = b"k8s\0";

/// An opened envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The type of the message; parts may be empty.
    pub type_meta: TypeMeta,
    /// The message.
    pub raw: &'a [u8],
    /// The compression of the message; never seen in practice.
    pub content_encoding: Cow<'a, str>,
    /// Media type of the message; empty for protobuf.
    pub content_type: Cow<'a, str>,
}

/// Opens an envelope.
///
/// # Errors
///
/// When the magic bytes are missing or the envelope is malformed; the message inside is not looked at.
pub fn open(bytes: &[u8]) -> Result<Envelope<'_>, DecodeError> {
    let Some(body) = bytes.strip_prefix(MAGIC) else {
        let message = if bytes.is_empty() {
            "empty data"
        } else {
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        };
        return Err(DecodeError::new(message.to_owned()));
    };
    if body.is_empty() {
        return Err(DecodeError::new("empty body".to_owned()));
    }
    let mut envelope = Envelope::default();
    let mut fields = Fields::new(body, "Unknown");
    while let Some((number, wire)) = fields.next()? {
        match number {
            1 => envelope.type_meta = read_type_meta(wire.bytes("TypeMeta")?)?,
            2 => envelope.raw = wire.bytes("Raw")?,
            3 => envelope.content_encoding = wire.text("ContentEncoding")?,
            4 => envelope.content_type = wire.text("ContentType")?,
            _ => {}
        }
    }
    Ok(envelope)
}

fn read_type_meta(payload: &[u8]) -> Result<TypeMeta, DecodeError> {
    let mut meta = TypeMeta::default();
    let mut fields = Fields::new(payload, "TypeMeta");
    while let Some((number, wire)) = fields.next()? {
        match number {
            1 => meta.api_version = wire.text("APIVersion")?.into_owned(),
            2 => meta.kind = wire.text("Kind")?.into_owned(),
            _ => {}
        }
    }
    Ok(meta)
}

/// Appends an envelope around the message that `write` appends.
pub fn wrap(api_version: &str, kind: &str, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    name(api_version, kind, out);
    write_message(out, 2, write);
    close_envelope(out);
}

/// Begins an envelope around a message of `length` bytes, which follows.
pub fn open_envelope(api_version: &str, kind: &str, length: usize, out: &mut Vec<u8>) {
    name(api_version, kind, out);
    write_tag(out, 2, WireType::Bytes);
    write_varint(out, length as u64);
}

/// Ends an envelope behind its message.
pub fn close_envelope(out: &mut Vec<u8>) {
    write_bytes(out, 3, b"");
    write_bytes(out, 4, b"");
}

fn name(api_version: &str, kind: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    write_message(out, 1, |out| {
        write_bytes(out, 1, api_version.as_bytes());
        write_bytes(out, 2, kind.as_bytes());
    });
}
