//! Documents in CBOR.

use planesmith_machinery::cbor;
use planesmith_machinery::json::{self, Strictness};

use crate::kinds::samples;

/// Converting CBOR to JSON and back preserves the document.
pub(crate) fn run(input: &[u8]) {
    let Ok(json) = cbor::to_json(input) else { return };
    let mut written = Vec::new();
    cbor::from_json(&json, &mut written).expect("what was written is JSON");
    let again = cbor::to_json(&written).expect("what was written is CBOR");
    assert_eq!(tree(&json), tree(&again));
}

/// Returns the document, independent of the order of its keys.
fn tree(json: &[u8]) -> serde_json::Value {
    json::parse_value(json, Strictness::Lenient)
        .expect("what was written is JSON")
        .0
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let encode = |json: &[u8]| {
        let mut out = Vec::new();
        cbor::from_json(json, &mut out).map(|()| out).unwrap_or_default()
    };
    let mut seeds: Vec<_> = samples(|object| encode(&json::to_vec(object)))
        .into_iter()
        .map(|seed| seed[1..].to_vec())
        .collect();
    seeds.push(encode(
        br#"{"a":[1,-1,1.5,true,null,18446744073709551615,-9223372036854775808,1e300],"b":{"c":"\u00e9"}}"#,
    ));
    // Tags of base64 and base16, text strings, half and single precision.
    seeds.push(
        b"\xd9\xd9\xf7\xa3\x41a\xd6\x42hi\x41b\xd7\x42hi\x61c\x83\xf9\x3c\x00\xfa\x3f\x80\x00\x00\x63abc".to_vec(),
    );
    seeds.push([&[0x81; 200][..], &[0x01]].concat());
    seeds
}
