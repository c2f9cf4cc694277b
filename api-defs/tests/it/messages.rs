//! Direct conversion of stored JSON to protobuf.

use planesmith_api_defs::apiextensions::v1::JSONSchemaProps;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::protobuf::{self, Transcoder};
use planesmith_machinery::scheme::Scheme;

/// Kinds with types that require decoding.
const DECODED: [&str; 1] = ["CustomResourceDefinition"];
/// Number of random objects for each kind.
const SAMPLES: u64 = 12;

#[test]
fn transcoded_messages_are_those_of_the_objects() {
    let mut scheme = Scheme::new();
    planesmith::register(&mut scheme);
    let samples = planesmith_api_defs::samples::samples();
    let (mut transcoded, mut read) = (0, Vec::new());
    for facts in scheme.iter() {
        let transcoder = Transcoder::new(facts.fields());
        for object in (0..SAMPLES).filter_map(|seed| samples.sample(facts, seed).ok()) {
            let stored = json::to_vec(&*object);
            let mut again = facts.zero();
            json::decode(&stored, &mut *again, Strictness::Lenient).expect("what was written");
            let mut expected = b"before".to_vec();
            protobuf::encode(&*again, &mut expected);
            let mut message = b"before".to_vec();
            if transcoder.transcode(&stored, &mut message) {
                transcoded += 1;
                assert!(
                    message == expected,
                    "{} {}",
                    facts.kind,
                    String::from_utf8_lossy(&stored)
                );
            } else {
                assert_eq!(message, b"before", "{} leaves something behind", facts.kind);
                read.push((facts.kind.clone(), String::from_utf8(stored).expect("text")));
            }
        }
    }
    read.retain(|(kind, _)| !DECODED.contains(&&**kind));
    assert!(transcoded > 1000 && read.is_empty(), "{transcoded}, but not {read:#?}");
}

#[test]
fn fields_of_another_layout_are_decoded() {
    let mut scheme = Scheme::new();
    planesmith::register(&mut scheme);
    let pod = scheme.object_kind("v1", "Pod").expect("there are Pods");
    let usual = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null},"spec":{"containers":null},"status":{}}"#;
    let transcodes = |json: &str| Transcoder::new(pod.fields()).transcode(json.as_bytes(), &mut Vec::new());
    assert!(transcodes(usual));
    for (usual_part, other) in [
        (r#""kind":"Pod""#, r#""kind":"Node""#),
        (r#""apiVersion":"v1","#, ""),
        (r#"{"name""#, r#"{ "name""#),
        (r#""name":"a""#, r#""name":"a","unknown":1"#),
        (r#""name":"a""#, r#""name":1"#),
        (r#""name":"a""#, r#""labels":{"b":"1","a":"2"},"name":"a""#),
        (r#""name":"a""#, r#""labels":{"a":null}"#),
        (r#""containers":null"#, r#""containers":[null]"#),
        (r#""status":{}"#, r#""status":{}, "#),
        (r#","status":{}}"#, ""),
        (r#","status":{}}"#, r#","status":{}}{}"#),
    ] {
        assert!(usual.contains(usual_part), "{usual_part}");
        let json = usual.replace(usual_part, other);
        assert!(!transcodes(&json), "{json}");
    }
}

#[test]
fn keywords_of_schemas_that_may_be_absent_are_repeated_fields() {
    let text = r#"{"enum":["S","M"],"x-kubernetes-list-map-keys":["aa","bb"],"definitions":{"d":{"type":"object"}}}"#;
    let mut schema = JSONSchemaProps::default();
    json::decode(text.as_bytes(), &mut schema, Strictness::Strict).expect("a schema");
    let mut message = Vec::new();
    protobuf::encode(&schema, &mut message);
    for part in [
        &b"\xa2\x01\x05\x0a\x03\"S\"\xa2\x01\x05\x0a\x03\"M\""[..],
        b"\xca\x02\x02aa\xca\x02\x02bb",
    ] {
        let is_there = message.windows(part.len()).any(|window| window == part);
        assert!(is_there, "{part:x?} in {message:x?}");
    }
    let mut again = JSONSchemaProps::default();
    protobuf::decode(&message, &mut again).expect("what was written");
    assert_eq!(again, schema);
}
