//! Objects as JSON, byte for byte as Go's `encoding/json` writes it and with the errors of its reader.
//!
//! Both directions walk the tables of [`crate::facts`]; there is no tree in between and no code per type. Tokens and trees
//! are those of `planesmith-wire`.

mod decode;
mod go_type;
mod path;
mod place;
mod sorted;
mod tree;
mod writer;

pub use planesmith_wire::json::{
    DecodeError, Findings, Indenter, Strictness, check_syntax, compact, encode_array, encode_object, encode_text,
    encode_value, indent, name_of, parse_value, place_of, type_meta,
};

pub use decode::MAX_TYPED_DEPTH;
use decode::Origin;
pub use path::Path;
pub(crate) use tree::tree_of;
pub use tree::{from_value, to_value, try_to_value};

use crate::room::room_for;
use crate::scalar::Scalar;
use crate::value::{Struct, Value, View};

/// Appends `object` as compact JSON without a final newline; kind and apiVersion come first when the type has them. All keys
/// of what kube-apiserver holds as a tree are in their order instead.
pub fn encode(object: &dyn Struct, out: &mut Vec<u8>) {
    writer::write_struct(out, object);
}

/// As [`encode`], without kind and apiVersion: the form of an item in a list of its kind.
pub fn encode_item(object: &dyn Struct, out: &mut Vec<u8>) {
    writer::write_bare_struct(out, object);
}

/// Appends any value of an object as compact JSON.
pub fn encode_part(value: &dyn Value, out: &mut Vec<u8>) {
    writer::write_value(out, value);
}

/// Appends what a view shows as compact JSON.
pub(crate) fn encode_view(view: &View<'_>, out: &mut Vec<u8>) {
    writer::write_view(out, view);
}

/// `object` as compact JSON without a final newline.
#[must_use]
pub fn to_vec(object: &dyn Struct) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    encode(object, &mut out);
    out
}

/// An object in the form in which it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Compact JSON with an empty `metadata.resourceVersion`, without a final newline.
    pub bytes: Vec<u8>,
    /// The position of the digits of the resource version, between the quotes.
    pub gap: usize,
}

/// Encodes `object` for the store. Its own resourceVersion is left out.
#[must_use]
pub fn encode_for_storage(object: &dyn Struct) -> Encoded {
    let mut bytes = Vec::with_capacity(1024);
    let gap = writer::write_for_storage(&mut bytes, object);
    Encoded { bytes, gap }
}

/// Reads one JSON document over `target`: what the document does not mention stays as it is.
///
/// Names are case-sensitive, `null` leaves plain values alone and empties lists, maps and optional values, maps that
/// stand twice are merged. Invalid UTF-8 in text becomes U+FFFD.
///
/// # Errors
///
/// See [`DecodeError`]. `target` may be half filled then.
pub fn decode(input: &[u8], target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    decode::decode(input, target, strictness, Origin::TYPED)
}

/// As [`decode`], for a document that a client sent: one of which many small elements would take much memory is refused.
///
/// # Errors
///
/// As [`decode`], and when the elements of lists and maps take more than the length of the document allows.
pub fn decode_sent(input: &[u8], target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    let room = room_for(input.len());
    decode::decode(input, target, strictness, Origin { room, ..Origin::TYPED })
}

/// As [`decode`], for a document that kube-apiserver reads without a type: of what stands twice the last one wins as a
/// whole, and it is noticed at any depth, whether the type knows the field or not. Nothing is refused for its many elements: those
/// of trees and of metadata take no more than [`most_for`](crate::room::most_for) says.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_untyped(input: &[u8], target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    decode::decode(input, target, strictness, Origin::UNTYPED)
}

/// As [`decode`] without findings, for a struct that lies within `depth` arrays and objects of another.
pub(crate) fn decode_within(input: &[u8], target: &mut dyn Struct, depth: usize) -> Result<(), DecodeError> {
    decode::decode(input, target, Strictness::Lenient, Origin { depth, ..Origin::TYPED }).map(drop)
}

/// Reads a document that is one leaf.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_leaf(input: &[u8], target: &mut dyn Scalar) -> Result<(), DecodeError> {
    decode::decode_leaf(input, target)
}

#[cfg(test)]
mod tests;
