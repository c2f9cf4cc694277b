//! JSON, byte for byte as Go's `encoding/json` writes it and with the errors of its reader.
//!
//! Both directions walk the tables of [`crate::facts`]; there is no tree in between and no code per type.

mod decode;
mod findings;
mod go_type;
mod indent;
mod path;
mod place;
mod reader;
mod scan;
mod sorted;
mod syntax;
mod text;
mod type_meta;
mod unescape;
mod value;
mod writer;

pub(crate) use decode::MAX_TYPED_DEPTH;
use decode::Origin;
pub use findings::Findings;
pub use indent::Indenter;

pub(crate) use path::Path;
pub(crate) use reader::{Malformed, Next, Reader};
pub(crate) use scan::Scan;
pub use type_meta::type_meta;
pub(crate) use unescape::lossy;
pub(crate) use value::{MAX_FIELDS_DEPTH, MAX_TREE_DEPTH, parse_value_within, try_to_value};
pub use value::{encode_value, from_value, name_of, parse_value, to_value};

use std::ops::Range;

use crate::object::Object;
use crate::room::room_for;
use crate::scalar::Scalar;
use crate::value::{Struct, Value, View};

/// What to do about fields that the type does not have and fields that stand twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Drop the former and let the last of the latter win.
    Lenient,
    /// The same, and report them; at most 100.
    Strict,
}

/// Why a document could not be read. The messages are kube-apiserver's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The input is not JSON, or nested too deep.
    #[error("{0}")]
    Syntax(String),
    /// The input is JSON that does not fit the type.
    #[error("{0}")]
    Type(String),
}

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

/// Appends compact, valid JSON indented by two spaces per level, as `?pretty=1` asks for; without a final newline.
pub fn indent(compact: &[u8], out: &mut Vec<u8>) {
    Indenter::default().push(compact, out);
}

/// The place of the value of the member `name` in the JSON of an object; `None` when there is none, or when the JSON is laid out
/// in another way than this crate writes it. Looks no further than to the end of the member.
#[must_use]
pub fn place_of(json: &[u8], name: &str) -> Option<Range<usize>> {
    let mut scan = Scan::new(json);
    let mut more = scan.enter(b'{', b'}')?;
    while more {
        let is_it = scan.key(name);
        let is_key = is_it || scan.text().is_some() && scan.pass(b":");
        if !is_key {
            return None;
        }
        let value = scan.value()?;
        if is_it {
            return Some(scan.at() - value.len()..scan.at());
        }
        more = scan.another(b'}')?;
    }
    None
}

/// Appends one JSON value without white space, with `<`, `>` and `&` escaped.
///
/// # Errors
///
/// [`DecodeError::Syntax`] when `json` is not one JSON value; nothing is appended then.
pub fn compact(json: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    indent::write_compact(out, json).map_err(|_| syntax_error(json))
}

/// How deep arrays and objects are nested in one valid JSON value.
pub(crate) fn depth(json: &[u8]) -> usize {
    let (mut open, mut deepest, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' if !in_text => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Appends elements as a JSON array.
pub fn encode_array<T>(elements: impl IntoIterator<Item = T>, out: &mut Vec<u8>, write: impl Fn(T, &mut Vec<u8>)) {
    out.push(b'[');
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// Appends entries as a JSON object, in their order.
pub fn encode_object<'k, T>(
    entries: impl IntoIterator<Item = (&'k str, T)>,
    out: &mut Vec<u8>,
    write: impl Fn(T, &mut Vec<u8>),
) {
    out.push(b'{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        encode_text(key, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// Appends `text` as JSON text, quoted and escaped.
pub fn encode_text(text: &str, out: &mut Vec<u8>) {
    text::write_str(out, text);
}

/// An object as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Compact JSON with an empty `metadata.resourceVersion`, without a final newline.
    pub bytes: Vec<u8>,
    /// Where the digits of the resource version go, between the quotes.
    pub gap: usize,
}

/// Encodes `object` for the store. Its own resourceVersion is left out.
#[must_use]
pub fn encode_for_storage(object: &dyn Object) -> Encoded {
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
pub(crate) fn decode_untyped(
    input: &[u8],
    target: &mut dyn Struct,
    strictness: Strictness,
) -> Result<Findings, DecodeError> {
    decode::decode(input, target, strictness, Origin::UNTYPED)
}

/// As [`decode`] without findings, for a struct that lies within `depth` arrays and objects of another.
pub(crate) fn decode_within(input: &[u8], target: &mut dyn Struct, depth: usize) -> Result<(), DecodeError> {
    decode::decode(input, target, Strictness::Lenient, Origin { depth, ..Origin::TYPED }).map(drop)
}

/// Reads a document that is one leaf.
pub(crate) fn decode_leaf(input: &[u8], target: &mut dyn Scalar) -> Result<(), DecodeError> {
    decode::decode_leaf(input, target)
}

/// Checks that a text is JSON.
///
/// # Errors
///
/// What is wrong with it, in the words of Go.
pub fn check_syntax(input: &[u8]) -> Result<(), String> {
    syntax::explain(input).map_or(Ok(()), Err)
}

/// The words for malformed input.
#[cold]
fn syntax_error(input: &[u8]) -> DecodeError {
    // What the machine accepts was refused for its depth: typed values nest less deep than untyped ones.
    let message = syntax::explain(input).unwrap_or_else(|| "invalid character '{' exceeded max depth".to_owned());
    DecodeError::Syntax(message)
}

#[cfg(test)]
mod tests;
