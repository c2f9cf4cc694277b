//! Objects as JSON: the output is byte for byte that of Go's `encoding/json`, and errors are those of its decoder.
//!
//! Both directions walk the tables of [`crate::facts`], without an intermediate tree and without code per type. Tokens
//! and trees are those of `planesmith-wire`.

mod decode;
mod field_location;
mod go_type;
mod ordered;
mod path;
mod sorted;
mod tree;
mod writer;

pub use planesmith_wire::json::{
    DecodeError, Findings, Indenter, Next, Reader, Strictness, check_syntax, compact, encode_array, encode_object,
    encode_text, encode_value, indent, name_of, parse_value, place_of, type_meta,
};

pub use decode::MAX_TYPED_DEPTH;
use decode::Origin;
pub use ordered::encode_ordered;
pub use path::Path;
pub(crate) use tree::tree_of;
pub use tree::{from_value, to_value, try_to_value};

use crate::decode_budget::budget_for;
use crate::scalar::Scalar;
use crate::value::{Shape, Struct, Value, View};

/// Appends `object` as compact JSON without a final newline; kind and apiVersion come first if the type has them. Keys
/// are sorted instead if kube-apiserver represents the object as an unstructured tree.
pub fn encode(object: &dyn Struct, out: &mut Vec<u8>) {
    writer::write_struct(out, object);
}

/// Like [`encode`], without kind and apiVersion: the form of an item in a list of its kind.
pub fn encode_item(object: &dyn Struct, out: &mut Vec<u8>) {
    writer::write_bare_struct(out, object);
}

/// Appends any value of an object as compact JSON.
pub fn encode_part(value: &dyn Value, out: &mut Vec<u8>) {
    writer::write_value(out, value);
}

/// Appends the value behind a view as compact JSON.
pub(crate) fn encode_view(view: &View<'_>, out: &mut Vec<u8>) {
    writer::write_view(out, view);
}

/// Returns `object` as compact JSON without a final newline.
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
    /// Byte offset of the digits of the resource version, between the quotes.
    pub gap: usize,
}

/// Encodes `object` for the store, without its resourceVersion.
#[must_use]
pub fn encode_for_storage(object: &dyn Struct) -> Encoded {
    let mut bytes = Vec::with_capacity(1024);
    let gap = writer::write_for_storage(&mut bytes, object);
    Encoded { bytes, gap }
}

/// Decodes one JSON document into `target`; fields that are not in the document are unchanged.
///
/// Names are case-sensitive. `null` leaves plain values unchanged and clears lists, maps and optional values. Duplicate
/// maps are merged. Invalid UTF-8 in text becomes U+FFFD.
///
/// # Errors
///
/// See [`DecodeError`]. `target` may be partially modified.
pub fn decode(input: &[u8], target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    decode::decode(input, target, strictness, Origin::TYPED)
}

/// Like [`decode`], for a document of a client: rejects documents whose many small elements would take too much memory.
///
/// # Errors
///
/// Those of [`decode`], and an error if the elements of lists and maps take more memory than the length of the document
/// allows.
pub fn decode_sent(input: &[u8], target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    let budget = budget_for(input.len());
    decode::decode(
        input,
        target,
        strictness,
        Origin {
            budget,
            ..Origin::TYPED
        },
    )
}

/// Like [`decode`], for a document that kube-apiserver decodes without a type: the last duplicate wins as a whole, and
/// duplicates are reported at any depth, for known and unknown fields. The number of elements is not limited: elements
/// of trees and of metadata take at most [`max_decoded_size`](crate::decode_budget::max_decoded_size) bytes.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_untyped(input: &[u8], target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    decode::decode(input, target, strictness, Origin::UNTYPED)
}

/// Like [`decode`] without findings, for a struct inside `depth` arrays and objects of another document.
pub(crate) fn decode_within(input: &[u8], target: &mut dyn Struct, depth: usize) -> Result<(), DecodeError> {
    decode::decode(input, target, Strictness::Lenient, Origin { depth, ..Origin::TYPED }).map(drop)
}

/// Decodes a document that is one value, such as a list of structs, without findings.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_value<T: Shape + Value + Default>(input: &[u8]) -> Result<T, DecodeError> {
    let mut value = T::default();
    decode::decode_value(input, &mut value, &T::TYPE)?;
    Ok(value)
}

/// Decodes a document that is one leaf.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_leaf(input: &[u8], target: &mut dyn Scalar) -> Result<(), DecodeError> {
    decode::decode_leaf(input, target)
}

#[cfg(test)]
mod tests;
