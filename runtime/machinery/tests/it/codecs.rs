//! The codecs against random input: a written value is read again, and no input makes them panic.

use std::collections::BTreeMap;

use planesmith_machinery::Struct as DeriveStruct;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::duration::Duration;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::Status;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::raw::{AnyJson, FieldsV1, RawExtension};
use planesmith_machinery::time::Time;
use planesmith_machinery::{protobuf, yaml};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

/// Every shape that a field can have.
#[derive(Clone, Debug, Default, PartialEq, DeriveStruct)]
#[schema(type_meta("test/v1", "Sink"))]
struct Sink {
    /// Numbers out of order, as in many kinds.
    #[field(proto = 9)]
    flag: bool,
    #[field(proto = 1)]
    small: i32,
    #[field(proto = 2)]
    large: i64,
    #[field(proto = 3)]
    ratio: f64,
    #[field(proto = 4)]
    text: String,
    #[field(proto = 5)]
    bytes: ByteString,
    #[field(proto = 6, keep)]
    retained: Vec<String>,
    #[field(proto = 7)]
    maybe_small: Option<i32>,
    #[field(proto = 8)]
    maybe_flag: Option<bool>,
    #[field(proto = 10)]
    numbers: Vec<i64>,
    #[field(proto = 11)]
    labels: BTreeMap<String, String>,
    #[field(proto = 12)]
    secrets: BTreeMap<String, ByteString>,
    #[field(proto = 13)]
    inner: Inner,
    #[field(proto = 14)]
    maybe_inner: Option<Box<Inner>>,
    #[field(proto = 15)]
    inners: Vec<Inner>,
    #[field(proto = 16)]
    inner_by_name: BTreeMap<String, Inner>,
    #[field(proto = 17)]
    lists_by_name: BTreeMap<String, Vec<String>>,
    #[field(proto = 18, go_type = "Wrapped")]
    wrapped: Option<Vec<String>>,
    #[field(proto = 19, omit_zero)]
    time: Time,
    #[field(proto = 20)]
    maybe_micro: Option<MicroTime>,
    #[field(proto = 21)]
    amounts: BTreeMap<String, Quantity>,
    #[field(proto = 22)]
    port: IntOrString,
    #[field(proto = 23)]
    raw: RawExtension,
    #[field(proto = 24)]
    fields: Option<FieldsV1>,
    #[field(proto = 25)]
    any: Option<AnyJson>,
    #[field(proto = 26)]
    pause: Duration,
    #[field(inline, proto = 27)]
    inlined: Inlined,
}

#[derive(Clone, Debug, Default, PartialEq, DeriveStruct)]
struct Inner {
    #[field(proto = 1, keep)]
    name: String,
    #[field(proto = 2)]
    next: Option<Box<Inner>>,
}

#[derive(Clone, Debug, Default, PartialEq, DeriveStruct)]
struct Inlined {
    #[field(proto = 1)]
    hidden: String,
}

fn inner() -> impl Strategy<Value = Inner> {
    let leaf = any::<String>().prop_map(|name| Inner { name, next: None });
    leaf.prop_recursive(3, 4, 1, |next| {
        (any::<String>(), next).prop_map(|(name, next)| Inner {
            name,
            next: Some(Box::new(next)),
        })
    })
}

fn bytes() -> impl Strategy<Value = ByteString> {
    vec(any::<u8>(), 0..20).prop_map(ByteString)
}

prop_compose! {
    fn plain()(
        flag: bool, small: i32, large: i64, ratio in any::<f64>().prop_filter("JSON has none", |value| value.is_finite()),
        text: String, bytes in bytes(), retained in vec(any::<String>(), 0..3), maybe_small in of(any::<i32>()),
        maybe_flag in of(any::<bool>()), numbers in vec(any::<i64>(), 0..4),
    ) -> Sink {
        Sink { flag, small, large, ratio, text, bytes, retained, maybe_small, maybe_flag, numbers, ..Sink::default() }
    }
}

prop_compose! {
    fn collections()(
        base in plain(), labels in btree_map(any::<String>(), any::<String>(), 0..3),
        secrets in btree_map(any::<String>(), bytes(), 0..3), inner in inner(), maybe_inner in of(inner()),
        inners in vec(inner(), 0..3), inner_by_name in btree_map(any::<String>(), inner(), 0..3),
        lists_by_name in btree_map(any::<String>(), vec(any::<String>(), 0..3), 0..3), wrapped in of(vec(any::<String>(), 0..3)),
        hidden: String,
    ) -> Sink {
        let maybe_inner = maybe_inner.map(Box::new);
        let inlined = Inlined { hidden };
        Sink { labels, secrets, inner, maybe_inner, inners, inner_by_name, lists_by_name, wrapped, inlined, ..base }
    }
}

prop_compose! {
    fn sink()(
        base in collections(), seconds in -62_135_596_799_i64..253_000_000_000, micros in of(-1_000_000_000_000_000_i64..1_000_000_000_000_000),
        amounts in btree_map("[a-z]{1,3}", "[1-9][0-9]{0,6}(m|k|Ki|Gi|)", 0..3), port in prop_oneof![any::<i32>().prop_map(IntOrString::Int), any::<String>().prop_map(IntOrString::String)],
        key: String, pause: i64,
    ) -> Sink {
        let tree = serde_json::json!({ key: [1, "<&>", null] });
        Sink {
            time: Time::from_second(seconds),
            maybe_micro: micros.map(|micros| MicroTime::new(jiff::Timestamp::from_microsecond(micros).expect("in range"))),
            amounts: amounts.into_iter().map(|(name, amount)| (name, amount.parse().expect("a quantity"))).collect(),
            port,
            raw: RawExtension::from(&tree),
            fields: Some(FieldsV1::from(&tree)),
            any: Some(AnyJson::from(&tree)),
            pause: Duration(pause),
            ..base
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_reads_what_it_wrote(sink in sink()) {
        let text = json::to_vec(&sink);
        prop_assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok());
        let mut back = Sink::default();
        let findings = json::decode(&text, &mut back, Strictness::Strict).expect("own output");
        prop_assert!(findings.is_empty());
        prop_assert_eq!(&back, &sink);
        prop_assert_eq!(json::to_vec(&back), text.clone());

        let mut from_tree = Sink::default();
        json::from_value(&json::to_value(&sink), &mut from_tree, Strictness::Strict).expect("own output");
        prop_assert_eq!(&from_tree, &sink);

        let mut indented = Vec::new();
        json::indent(&text, &mut indented);
        let mut compact = Vec::new();
        json::compact(&indented, &mut compact).expect("own output");
        prop_assert_eq!(compact, text);
    }

    #[test]
    fn protobuf_reads_what_it_wrote(sink in sink()) {
        let mut bytes = Vec::new();
        protobuf::encode_enveloped(&sink, &mut bytes);
        let envelope = protobuf::open(&bytes).expect("own output");
        prop_assert_eq!(envelope.type_meta.kind, "Sink");
        let mut back = Sink::default();
        protobuf::decode(envelope.raw, &mut back).expect("own output");
        prop_assert_eq!(back, sink);
    }

    #[test]
    fn yaml_reads_what_it_wrote(sink in sink()) {
        let text = json::to_vec(&sink);
        let document = yaml::from_json(&text).expect("own output");
        let read = yaml::to_json(&document).expect("own output");
        let mut back = Sink::default();
        json::decode(&read.json, &mut back, Strictness::Strict).expect("own output");
        prop_assert_eq!(json::to_value(&back), json::to_value(&sink));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }

    #[test]
    fn near_json_is_read_or_refused(text in "([{\\[\\]}:,\" \n-]|true|null|1e9|0|\\\\u12|\"a\":|\"small\":|\"time\":|\"inner\":){0,30}") {
        read_all(text.as_bytes());
    }

    #[test]
    fn near_yaml_is_read_or_refused(text in "([a-z0-9?:\\-#&*!|>'\"%@`{}\\[\\], \t\n]|: |- |\n  |&a |\\*a|<<: |---\n){0,40}") {
        read_all(text.as_bytes());
    }

    #[test]
    fn damaged_protobuf_is_read_or_refused(sink in sink(), at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let mut bytes = Vec::new();
        protobuf::encode_enveloped(&sink, &mut bytes);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        read_all(&bytes);
        read_all(&bytes[..cut.index(bytes.len())]);
    }
}

/// Reads the bytes in every way; only panics matter, and that a verdict on JSON is the one of serde_json.
fn read_all(bytes: &[u8]) {
    let ours = json::parse_value(bytes, Strictness::Strict).is_ok();
    if let Ok(text) = std::str::from_utf8(bytes) {
        // serde_json refuses lone surrogates and numbers that do not fit; Go repairs or accepts them.
        let theirs = serde_json::from_str::<serde_json::Value>(text).is_ok();
        assert!(ours || !theirs, "refused what serde_json takes: {text:?}");
    }
    let _ = json::type_meta(bytes);
    let _ = json::decode(bytes, &mut Sink::default(), Strictness::Strict);
    let _ = json::decode(bytes, &mut Status::default(), Strictness::Lenient);
    let mut compact = Vec::new();
    let _ = json::compact(bytes, &mut compact);
    let _ = protobuf::decode(bytes, &mut Sink::default());
    if let Ok(envelope) = protobuf::open(bytes) {
        let _ = protobuf::decode(envelope.raw, &mut Sink::default());
    }
    if let Ok(document) = yaml::to_json(bytes) {
        assert!(json::parse_value(&document.json, Strictness::Strict).is_ok());
    }
}
