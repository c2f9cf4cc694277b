//! Messages around objects: lists and watch events.

use planesmith_wire::protobuf::{
    DecodeError, Fields, WireType, close_envelope, open_envelope, write_bytes, write_message, write_tag, write_varint,
};

use super::encode;
use crate::value::Struct;

/// Appends the message of a list: its metadata and its items, without envelope.
pub fn encode_list<'a>(metadata: &dyn Struct, items: impl IntoIterator<Item = &'a dyn Struct>, out: &mut Vec<u8>) {
    write_message(out, 1, |out| encode(metadata, out));
    for item in items {
        write_message(out, 2, |out| encode(item, out));
    }
}

/// Like [`encode_list`], for items that are already encoded.
pub fn encode_list_of_messages<'a>(
    metadata: &dyn Struct,
    items: impl IntoIterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) {
    write_message(out, 1, |out| encode(metadata, out));
    for item in items {
        write_bytes(out, 2, item);
    }
}

/// Returns the message of a list's metadata, which may be empty, and the messages of its items.
///
/// # Errors
///
/// If the message is malformed.
pub fn list_parts(list: &[u8]) -> Result<(&[u8], Vec<&[u8]>), DecodeError> {
    let mut fields = Fields::new(list, "List");
    let (mut metadata, mut items) = (&b""[..], Vec::new());
    while let Some((number, value)) = fields.next()? {
        match number {
            1 => metadata = value.bytes("metadata")?,
            2 => items.push(value.bytes("items")?),
            _ => {}
        }
    }
    Ok((metadata, items))
}

/// Returns the bytes of an enveloped list before and behind its items, which take `items` bytes ([`encode_item`]).
#[must_use]
pub fn around_items(api_version: &str, kind: &str, metadata: &dyn Struct, items: usize) -> (Vec<u8>, Vec<u8>) {
    let mut list = Vec::new();
    write_message(&mut list, 1, |out| encode(metadata, out));
    let mut head = Vec::with_capacity(list.len() + 64);
    open_envelope(api_version, kind, list.len() + items, &mut head);
    head.append(&mut list);
    let mut tail = Vec::new();
    close_envelope(&mut tail);
    (head, tail)
}

/// Bytes that [`encode_item`] appends for a message of `length` bytes.
#[must_use]
pub fn item_length(length: usize) -> usize {
    let digits = (usize::BITS - (length | 1).leading_zeros()).div_ceil(7);
    1 + digits as usize + length
}

/// Appends an item of a list that is already encoded.
pub fn encode_item(message: &[u8], out: &mut Vec<u8>) {
    write_bytes(out, 2, message);
}

/// Appends the bytes before a list item whose message takes `length` bytes.
pub fn open_item(length: usize, out: &mut Vec<u8>) {
    write_tag(out, 2, WireType::Bytes);
    write_varint(out, length as u64);
}

/// Appends one frame of a watch: its length in four bytes, big end first, then the event without an envelope.
///
/// `object` is the object in its envelope.
pub fn encode_watch_event(event_type: &str, object: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write_bytes(out, 1, event_type.as_bytes());
    write_message(out, 2, |out| write_bytes(out, 1, object));
    let length = u32::try_from(out.len() - start - 4).expect("events are far smaller than 4 GiB");
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_an_item_is_known_before_it_is_written() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152] {
            let mut item = Vec::new();
            encode_item(&vec![b'x'; length], &mut item);
            assert_eq!(item.len(), item_length(length));
            let mut opened = Vec::new();
            open_item(length, &mut opened);
            assert!(item.starts_with(&opened) && item.len() - opened.len() == length);
        }
    }
}
