//! Objects in JSON.

use planesmith_machinery::json::{self, Strictness};

use crate::kinds::{choose, samples};

/// Writing a decoded object and reading it again preserves it; the same applies to documents.
pub(crate) fn run(input: &[u8]) {
    let Some((kind, text)) = choose(input) else { return };
    let _ = json::type_meta(text);
    let mut object = kind.zero();
    if json::decode(text, &mut *object, Strictness::Strict).is_ok() {
        let mut lenient = kind.zero();
        json::decode(text, &mut *lenient, Strictness::Lenient).expect("strictness only adds findings");
        let written = json::to_vec(&*object);
        assert_eq!(written, json::to_vec(&*lenient));
        let mut again = kind.zero();
        let findings = json::decode(&written, &mut *again, Strictness::Strict).expect("what was written is read");
        assert!(findings.is_empty(), "{findings}");
        assert_eq!(rendered(&written), rendered(&json::to_vec(&*again)));
        indented(&written);
    }
    if let Ok((tree, _)) = json::parse_value(text, Strictness::Strict) {
        let mut written = Vec::new();
        json::encode_value(&tree, &mut written);
        let (again, _) = json::parse_value(&written, Strictness::Strict).expect("what was written is read");
        // A number without a fraction is read again as an integer.
        let mut rewritten = Vec::new();
        json::encode_value(&again, &mut rewritten);
        assert_eq!(without_signs_of_zero(&written), without_signs_of_zero(&rewritten));
        let mut compact = Vec::new();
        json::compact(text, &mut compact).expect("a document has a compact form");
        indented(&compact);
    }
}

/// White space is insignificant.
fn indented(compact: &[u8]) {
    let mut indented = Vec::new();
    json::indent(compact, &mut indented);
    let mut back = Vec::new();
    json::compact(&indented, &mut back).expect("indented JSON is JSON");
    assert_eq!(rendered(compact), rendered(&back));
}

/// As in Go, the floating-point number -0.0 is written as `-0`, which is read again as the integer 0.
fn without_signs_of_zero(json: &[u8]) -> String {
    let begins = |at: usize| at.checked_sub(1).is_none_or(|before| b"[:,".contains(&json[before]));
    let ends = |at: usize| json.get(at).is_none_or(|byte| b"]},".contains(byte));
    let is_sign = |at: usize| json[at..].starts_with(b"-0") && begins(at) && ends(at + 2);
    let kept = (0..json.len()).filter(|&at| !is_sign(at)).map(|at| json[at]);
    rendered(&kept.collect::<Vec<u8>>()).into_owned()
}

fn rendered(text: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(text)
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = samples(|object| json::to_vec(object));
    seeds.push([b"\0", "[".repeat(20_000).as_bytes()].concat());
    seeds.push([b"\0", "{\"metadata\":".repeat(5_000).as_bytes()].concat());
    seeds
}
