//! Objects as protobuf, by walking their tables: the fields and the envelope are those of `planesmith-wire`.
//!
//! Plain values and structs are always written, even if zero; optional values, lists, maps and bytes only if they are
//! not empty. Unknown fields are skipped.

mod list;
mod reader;
mod transcode;
mod writer;

pub use planesmith_wire::protobuf::{
    DecodeError, Envelope, Fields, MAGIC, Wire, WireType, open, wrap, write_bytes, write_int, write_message, write_tag,
    write_varint,
};

pub use list::{
    around_items, encode_item, encode_list, encode_list_of_messages, encode_watch_event, item_length, list_parts,
    open_item,
};
pub use transcode::Transcoder;

use crate::decode_budget::budget_for;
use crate::facts::{FieldFacts, TypeFacts, TypeMetaFacts};
use crate::value::Struct;
use reader::Walk;

/// Appends the message of `object`, without envelope.
pub fn encode(object: &dyn Struct, out: &mut Vec<u8>) {
    writer::write_struct(out, object);
}

/// Appends `object` in an envelope that names its type.
pub fn encode_enveloped(object: &dyn Struct, out: &mut Vec<u8>) {
    let meta = object.type_meta().unwrap_or(TypeMetaFacts {
        api_version: "",
        kind: "",
    });
    wrap(meta.api_version, meta.kind, out, |out| encode(object, out));
}

/// Decodes a message into `target`; fields that are not in the message are unchanged.
///
/// # Errors
///
/// If the message is truncated, a field has the wrong wire type, or a leaf rejects its value. `target` may be partially
/// modified.
pub fn decode(message: &[u8], target: &mut dyn Struct) -> Result<(), DecodeError> {
    decode_within(message, target, 0)
}

/// Like [`decode`], for a message of a client: rejects messages whose many small elements would take too much memory.
///
/// # Errors
///
/// Those of [`decode`], and an error if the elements of lists and maps take more memory than the length of the message
/// allows.
pub fn decode_sent(message: &[u8], target: &mut dyn Struct) -> Result<(), DecodeError> {
    let budget = budget_for(message.len());
    reader::read_struct(message, target, &mut Walk { depth: 0, budget })
}

/// Like [`decode`], for a message inside `depth` other messages.
pub(crate) fn decode_within(message: &[u8], target: &mut dyn Struct, depth: usize) -> Result<(), DecodeError> {
    let budget = usize::MAX;
    reader::read_struct(message, target, &mut Walk { depth, budget })
}

/// True if a field is a message around its list: an optional list with a Go type of its own, as `Verbs`. Other lists are written
/// once per element, so that absent and empty ones are encoded alike.
fn is_wrapped(field: &FieldFacts) -> bool {
    field.is_optional() && !field.go_type.is_empty() && matches!(field.ty.present(), TypeFacts::List(_))
}

#[cfg(test)]
mod tests;
