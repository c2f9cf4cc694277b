//! Protobuf as Kubernetes generates it: proto2 without surprises, in an envelope that names the type.
//!
//! Plain values and structs are always written, even when zero; optional values, lists, maps and bytes only when there
//! is something in them. Unknown fields are passed over.

mod envelope;
mod list;
mod reader;
mod transcode;
pub(crate) mod wire;
mod writer;

pub use envelope::{Envelope, MAGIC, encode_enveloped, open, wrap};
pub use list::{around_items, encode_item, encode_list, encode_list_of_messages, encode_watch_event, item_length};
pub use transcode::transcode;

use crate::facts::TypeFacts;
use crate::room::room_for;
use crate::value::Struct;
use reader::Walk;

/// Why bytes could not be read; the message is kube-apiserver's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub(crate) String);

impl DecodeError {
    pub(crate) fn truncated() -> Self {
        DecodeError("unexpected EOF".to_owned())
    }
}

/// Appends the message of `object`, without envelope.
pub fn encode(object: &dyn Struct, out: &mut Vec<u8>) {
    writer::write_struct(out, object);
}

/// Reads a message over `target`: what it does not mention stays as it is.
///
/// # Errors
///
/// When the message is cut off, a field has the wrong wire type, or a leaf refuses its value. `target` may be half
/// filled then.
pub fn decode(message: &[u8], target: &mut dyn Struct) -> Result<(), DecodeError> {
    decode_within(message, target, 0)
}

/// As [`decode`], for a message that a client sent: one of which many small elements would take much memory is refused.
///
/// # Errors
///
/// As [`decode`], and when the elements of lists and maps take more than the length of the message allows.
pub fn decode_sent(message: &[u8], target: &mut dyn Struct) -> Result<(), DecodeError> {
    let room = room_for(message.len());
    reader::read_struct(message, target, &mut Walk { depth: 0, room })
}

/// As [`decode`], for a message that lies within `depth` others.
pub(crate) fn decode_within(message: &[u8], target: &mut dyn Struct, depth: usize) -> Result<(), DecodeError> {
    let room = usize::MAX;
    reader::read_struct(message, target, &mut Walk { depth, room })
}

/// Whether a field is written once for each element: the lists of structs. Absent and empty are the same there.
fn is_repeated(ty: &TypeFacts) -> bool {
    matches!(ty.present(), TypeFacts::List(TypeFacts::Struct(_)))
}

#[cfg(test)]
mod tests;
