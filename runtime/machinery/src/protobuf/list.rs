//! Messages around objects: lists and watch events.

use super::encode;
use super::wire::{write_bytes, write_message};
use crate::value::Struct;

/// Appends the message of a list: its metadata and its items, without envelope.
pub fn encode_list<'a>(metadata: &dyn Struct, items: impl IntoIterator<Item = &'a dyn Struct>, out: &mut Vec<u8>) {
    write_message(out, 1, |out| encode(metadata, out));
    for item in items {
        write_message(out, 2, |out| encode(item, out));
    }
}

/// As [`encode_list`], of items that are encoded already.
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
