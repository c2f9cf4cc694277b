//! Objects in protobuf.

use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::protobuf;

use crate::kinds::{choose, samples};

/// Writing a decoded object and reading it again preserves it, in protobuf and via JSON.
pub(crate) fn run(input: &[u8]) {
    let Some((kind, message)) = choose(input) else { return };
    let _ = protobuf::open(message);
    let mut object = kind.zero();
    if protobuf::decode(message, &mut *object).is_err() {
        return;
    }
    let mut written = Vec::new();
    protobuf::encode(&*object, &mut written);
    let mut again = kind.zero();
    protobuf::decode(&written, &mut *again).expect("what was written is read");
    let mut rewritten = Vec::new();
    protobuf::encode(&*again, &mut rewritten);
    assert_eq!(written, rewritten);
    let text = json::to_vec(&*object);
    assert_eq!(
        String::from_utf8_lossy(&text),
        String::from_utf8_lossy(&json::to_vec(&*again))
    );
    // Protobuf can represent values that JSON cannot, such as a zero time that is present; the comparison is limited to JSON.
    let mut by_json = kind.zero();
    if json::decode(&text, &mut *by_json, Strictness::Lenient).is_ok() {
        let text = json::to_vec(&*by_json);
        let mut message = Vec::new();
        protobuf::encode(&*by_json, &mut message);
        let mut by_protobuf = kind.zero();
        protobuf::decode(&message, &mut *by_protobuf).expect("what was written is read");
        let again = json::to_vec(&*by_protobuf);
        assert_eq!(String::from_utf8_lossy(&text), String::from_utf8_lossy(&again));
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = samples(|object| {
        let mut message = Vec::new();
        protobuf::encode(object, &mut message);
        message
    });
    seeds.extend(samples(|object| {
        let mut message = Vec::new();
        protobuf::encode_enveloped(object, &mut message);
        message
    }));
    seeds
}
