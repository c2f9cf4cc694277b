//! Scenarios over metadata types.

use super::{decode, encode, encode_enveloped, encode_list, encode_list_of_messages, encode_watch_event, open};
use crate::meta::{ApiResource, Condition, ListMeta, ObjectMeta, Status};
use crate::value::Struct;

fn message(object: &dyn Struct) -> Vec<u8> {
    let mut out = Vec::new();
    encode(object, &mut out);
    out
}

#[test]
fn plain_fields_are_written_even_when_zero_and_in_the_order_of_their_numbers() {
    // Six texts, a number, an empty time; optional fields are omitted.
    let expected = [10, 0, 18, 0, 26, 0, 34, 0, 42, 0, 50, 0, 56, 0, 66, 0];
    assert_eq!(message(&ObjectMeta::default()), expected);
    let condition = Condition {
        observed_generation: -1,
        ..Condition::default()
    };
    let expected = [
        10, 0, 18, 0, 24, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 34, 0, 42, 0, 50, 0,
    ];
    assert_eq!(message(&condition), expected);
    let resource = ApiResource {
        verbs: Some(vec!["get".to_owned()]),
        ..ApiResource::default()
    };
    let expected = [
        10, 0, 16, 0, 26, 0, 34, 5, 10, 3, b'g', b'e', b't', 50, 0, 66, 0, 74, 0, 82, 0,
    ];
    assert_eq!(message(&resource), expected);
}

#[test]
fn long_messages_get_longer_lengths() {
    let mut status = Status::default();
    status.metadata.r#continue = "x".repeat(70_000);
    let bytes = message(&status);
    let mut back = Status::default();
    decode(&bytes, &mut back).expect("own output");
    assert_eq!(back, status);
}

#[test]
fn unknown_fields_are_passed_over() {
    let mut bytes = message(&ObjectMeta {
        name: "n".to_owned(),
        ..ObjectMeta::default()
    });
    // A varint, eight bytes, a text, a group with a varint inside, four bytes: all of field 30.
    bytes.extend_from_slice(&[0xF0, 1, 5, 0xF1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0xF2, 1, 1, b'x']);
    bytes.extend_from_slice(&[0xF3, 1, 8, 5, 0xF4, 1, 0xF5, 1, 1, 2, 3, 4]);
    let mut meta = ObjectMeta::default();
    decode(&bytes, &mut meta).expect("unknown fields only");
    assert_eq!(meta.name, "n");
}

#[test]
fn malformed_messages_are_refused() {
    let error = |bytes: &[u8]| {
        decode(bytes, &mut ObjectMeta::default())
            .expect_err("malformed")
            .to_string()
    };
    assert_eq!(error(&[10, 5, b'x']), "unexpected EOF");
    assert_eq!(error(&[10]), "unexpected EOF");
    assert_eq!(error(&[0x80; 20]), "proto: integer overflow");
    assert_eq!(
        error(&[10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
        "proto: negative length found during unmarshaling"
    );
    assert_eq!(error(&[8, 1]), "proto: wrong wireType = 0 for field name");
    assert_eq!(error(&[4]), "proto: ObjectMeta: wiretype end group for non-group");
    assert_eq!(error(&[0, 0]), "proto: ObjectMeta: illegal tag 0 (wire type 0)");
    assert_eq!(error(&[15]), "proto: illegal wireType 7");
}

#[test]
fn envelopes_name_the_type() {
    let mut bytes = Vec::new();
    encode_enveloped(
        &Status {
            code: 404,
            ..Status::default()
        },
        &mut bytes,
    );
    assert_eq!(&bytes[..4], b"k8s\0");
    assert_eq!(&bytes[bytes.len() - 4..], [0x1A, 0, 0x22, 0]);
    let envelope = open(&bytes).expect("own output");
    assert_eq!(
        (
            envelope.type_meta.api_version.as_str(),
            envelope.type_meta.kind.as_str()
        ),
        ("v1", "Status")
    );

    let error = |bytes: &[u8]| open(bytes).expect_err("malformed").to_string();
    assert_eq!(error(b""), "empty data");
    assert_eq!(error(b"k8s\0"), "empty body");
    assert_eq!(
        error(b"{}"),
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    );
    assert_eq!(
        error(b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x06"),
        "unexpected EOF"
    );
}

#[test]
fn lists_can_be_put_together_from_stored_messages() {
    let metadata = ListMeta {
        resource_version: "7".to_owned(),
        ..ListMeta::default()
    };
    let items = [
        ObjectMeta {
            name: "a".to_owned(),
            ..ObjectMeta::default()
        },
        ObjectMeta::default(),
    ];
    let mut whole = Vec::new();
    encode_list(&metadata, items.iter().map(|item| item as &dyn Struct), &mut whole);
    let messages = [message(&items[0]), message(&items[1])];
    let mut parts = Vec::new();
    encode_list_of_messages(&metadata, messages.iter().map(Vec::as_slice), &mut parts);
    assert_eq!(whole, parts);
}

#[test]
fn watch_events_are_framed_by_their_length() {
    let mut frame = Vec::new();
    encode_watch_event("ADDED", b"object", &mut frame);
    assert_eq!(frame, b"\0\0\0\x11\x0a\x05ADDED\x12\x08\x0a\x06object");
}
