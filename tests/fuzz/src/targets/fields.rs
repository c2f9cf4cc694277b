//! Sets of fields.

use planesmith_patch::fields::{Ignored, Set, compare};

use crate::kinds::{join, pieces, samples};

/// Writing a set and reading it again preserves it, and the algebraic laws of sets hold.
pub(crate) fn run(input: &[u8]) {
    let (first, second) = match pieces(input) {
        Some([first, second]) => (first, second),
        None => (input, &b"{}"[..]),
    };
    let (Some(first), Some(second)) = (read(first), read(second)) else {
        return;
    };
    let mut text = Vec::new();
    first.write_json(&mut text);
    let shown = String::from_utf8_lossy(&text);
    assert_eq!(Set::from_json(&text).as_ref(), Ok(&first), "{shown}");
    let both = first.clone().union(second.clone());
    let common = first.clone().intersection(&second);
    assert_eq!(both.len() + common.len(), first.len() + second.len(), "{shown}");
    assert_eq!(both, second.clone().union(first.clone()), "{shown}");
    assert_eq!(first.intersects(&second), !common.is_empty(), "{shown}");
    let mut rest = first.clone();
    rest.remove(&second);
    assert!(!rest.intersects(&second), "{shown}");
    assert_eq!(rest.union(common), first, "{shown}");
    let mut dropped = first.clone();
    dropped.remove_below(&second);
    assert!(dropped.len() <= first.len(), "{shown}");
}

/// Parses a set; members without meaning are dropped.
fn read(text: &[u8]) -> Option<Set<'static>> {
    Set::from_json(text).ok().map(Set::into_owned)
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let sets: Vec<_> = samples(|object| {
        let mut text = Vec::new();
        let zero = object.resource().zero();
        compare(&*zero, object, &Ignored::NOTHING).added.write_json(&mut text);
        text
    })
    .into_iter()
    .map(|seed| seed[1..].to_vec())
    .collect();
    let mut seeds: Vec<_> = sets.chunks(2).map(|pair| pair.join(&0)).collect();
    let small: [&[u8]; 2] = [
        br#"{"f:spec":{".":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:set":{"v:\"a\"":{},"v:1":{},"v:1.5":{},"v:true":{},"v:null":{}},"f:list":{"i:0":{}}}}"#,
        br#"{"f:spec":{"f:ports":{"k:{\"port\":80}":{}},"f:set":{"v:{\"a\":[1]}":{}}}}"#,
    ];
    seeds.push(join(&small));
    seeds
}
