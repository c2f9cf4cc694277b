//! CBOR (RFC 8949) by way of JSON: stored objects are JSON, and every document has one form in each.
//!
//! Text is written as byte strings, as Go's clients of Kubernetes do, and read in either form.

mod reader;
mod writer;

use serde_json::Value;

use crate::json::{self, Strictness};

/// The start of every document: the tag that says that this is CBOR.
pub const SELF_DESCRIBED: [u8; 3] = [0xd9, 0xd9, 0xf7];

/// The reason why bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cbor: {0}")]
pub struct CborError(String);

/// Appends a JSON document as CBOR.
///
/// # Errors
///
/// When `json` is not a JSON document.
pub fn from_json(json: &[u8], out: &mut Vec<u8>) -> Result<(), json::DecodeError> {
    let (tree, _) = json::parse_value(json, Strictness::Lenient)?;
    out.extend_from_slice(&SELF_DESCRIBED);
    writer::write(&tree, out);
    Ok(())
}

/// True if lists and maps of `json`, a JSON document, are nested as deeply as readers of CBOR accept at most.
#[must_use]
pub fn has_readable_depth(json: &[u8]) -> bool {
    let (mut depth, mut is_text) = (0_usize, false);
    let mut rest = json.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' if is_text => {
                rest.next();
            }
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => depth += 1,
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > reader::MAX_DEPTH {
            return false;
        }
    }
    true
}

/// Stands for the items of a list while what is around them is written.
const ITEMS: &str = "items-of-the-list";

/// Returns the CBOR before and behind the `count` items of a list. The JSON of the list is `head`, which ends with the
/// bracket that opens the array of the items, the items, and `tail`.
///
/// # Errors
///
/// When both together are not a JSON document.
pub fn around_items(head: &[u8], count: usize, tail: &[u8]) -> Result<(Vec<u8>, Vec<u8>), json::DecodeError> {
    let item = format!("[\"{ITEMS}\"]");
    // The array is opened by the item.
    let head = head.strip_suffix(b"[").unwrap_or(head);
    let tail = tail.strip_prefix(b"]").unwrap_or(tail);
    let mut whole = Vec::new();
    from_json(&[head, item.as_bytes(), tail].concat(), &mut whole)?;
    let mut array = Vec::new();
    writer::write(&Value::from(vec![ITEMS]), &mut array);
    let place = whole.windows(array.len()).position(|part| part == array);
    let place = place.ok_or_else(|| json::DecodeError::Syntax("the array has no place of its own".to_owned()))?;
    let behind = whole.split_off(place + array.len());
    whole.truncate(place);
    writer::open_array(count, &mut whole);
    Ok((whole, behind))
}

/// Appends an item of a list, between what [`around_items`] returns.
///
/// # Errors
///
/// When `json` is not a JSON document.
pub fn item_from_json(json: &[u8], out: &mut Vec<u8>) -> Result<(), json::DecodeError> {
    let (tree, _) = json::parse_value(json, Strictness::Lenient)?;
    writer::write(&tree, out);
    Ok(())
}

/// A CBOR document as compact JSON. Byte strings that are tagged as base64 or base16 come out as such text.
///
/// # Errors
///
/// When the bytes are not one such document: cut off, of indefinite length, nested deeper than 64, with a key that
/// stands twice or is no text, with text that is not UTF-8, or with values that JSON cannot hold.
pub fn to_json(cbor: &[u8]) -> Result<Vec<u8>, CborError> {
    reader::read(cbor.strip_prefix(&SELF_DESCRIBED).unwrap_or(cbor))
}

#[cfg(test)]
mod tests;
