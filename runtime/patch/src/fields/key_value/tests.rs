use super::*;

#[test]
fn numbers_of_both_kinds_have_one_order() {
    const LARGE: i64 = 1 << 53;
    let sorted = [
        KeyValue::Double(f64::NEG_INFINITY),
        KeyValue::Int(i64::MIN),
        KeyValue::Double(-1.5),
        KeyValue::Int(-1),
        KeyValue::Double(-0.5),
        KeyValue::Int(0),
        KeyValue::Double(0.5),
        KeyValue::Int(LARGE),
        KeyValue::Int(LARGE + 1),
        KeyValue::Double(9_007_199_254_740_994.0),
        KeyValue::Int(i64::MAX),
        KeyValue::Double(9_223_372_036_854_775_808.0),
        KeyValue::Double(f64::NAN),
    ];
    for (left, one) in sorted.iter().enumerate() {
        for (right, other) in sorted.iter().enumerate() {
            assert_eq!(one.cmp(other), left.cmp(&right), "{one:?} {other:?}");
        }
    }
    assert_eq!(KeyValue::Int(1), KeyValue::Double(1.0));
    assert_eq!(KeyValue::Int(0), KeyValue::Double(-0.0));
}

fn read(text: &str) -> KeyValue<'static> {
    KeyValue::from_json(serde_json::from_str(text).expect(text))
}

#[test]
fn a_written_key_is_read_as_the_same() {
    for (text, written) in [
        (
            r#"{"b":[1888887770000014.9168],"a":null}"#,
            r#"{"a":null,"b":[1888887770000015]}"#,
        ),
        ("1234567890123456789.5", "1234567890123456800"),
        ("-9223372036854775807.5", "-9223372036854776000"),
        ("18446744073709551615", "18446744073709552000"),
        ("-0.0", "-0"),
        ("[1e21,0.5,true]", "[1e+21,0.5,true]"),
    ] {
        let value = read(text);
        let mut out = Vec::new();
        value.write_json(&mut out);
        assert_eq!(String::from_utf8(out).expect("JSON is UTF-8"), written);
        assert_eq!(read(written), value, "{text}");
    }
}

#[test]
fn lists_and_maps_are_ordered_by_their_content() {
    let sorted = [
        "1",
        r#""a""#,
        "true",
        "[]",
        "[1]",
        "[1,0]",
        "[1.5]",
        "[10]",
        "{}",
        r#"{"a":9}"#,
        r#"{"a":10}"#,
    ]
    .into_iter()
    .chain([r#"{"a":10,"b":null}"#, r#"{"b":1}"#, "null"])
    .map(read);
    assert!(sorted.is_sorted_by(|left, right| left < right));
    assert_eq!(read("[1.0,{}]"), read("[1,{}]"));
    assert_eq!(read(r#"["x",{"a":1e21}]"#).to_string(), r#"["x",a=1e+21]"#);
}
