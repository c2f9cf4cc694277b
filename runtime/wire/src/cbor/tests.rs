use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn read(cbor: &str) -> Result<String, String> {
    let json = to_json(&hex(cbor)).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(json).unwrap())
}

/// The examples of the standard (RFC 8949, appendix A) that JSON can hold.
#[test]
fn the_examples_of_the_standard_are_read() {
    for (cbor, json) in [
        ("00", "0"),
        ("1818", "24"),
        ("1903e8", "1000"),
        ("1bffffffffffffffff", "18446744073709551615"),
        ("20", "-1"),
        ("3903e7", "-1000"),
        ("f93e00", "1.5"),
        ("f90001", "5.960464477539063e-8"),
        ("f9c400", "-4"),
        ("fa47c35000", "100000"),
        ("fb3ff199999999999a", "1.1"),
        ("f4", "false"),
        ("f5", "true"),
        ("f6", "null"),
        (
            "c074323031332d30332d32315432303a30343a30305a",
            r#""2013-03-21T20:04:00Z""#,
        ),
        ("d74401020304", r#""01020304""#),
        ("d64401020304", r#""AQIDBA==""#),
        ("4161", r#""a""#),
        ("6161", r#""a""#),
        ("83010203", "[1,2,3]"),
        ("a26161014162820203", r#"{"a":1,"b":[2,3]}"#),
        ("d9d9f7a0", "{}"),
    ] {
        assert_eq!(read(cbor).as_deref(), Ok(json), "{cbor}");
    }
}

#[test]
fn malformed_cbor_is_refused() {
    for (cbor, why) in [
        ("", "cbor: unexpected EOF"),
        ("62", "cbor: unexpected EOF"),
        ("9bffffffffffffffff", "cbor: unexpected EOF"),
        ("5bffffffffffffffff61", "cbor: unexpected EOF"),
        ("0000", "cbor: 1 bytes of extraneous data"),
        ("9f01ff", "cbor: items of indefinite length are not allowed"),
        (
            "a2416101416102",
            "cbor: found duplicate map key \"a\" at map element index 1",
        ),
        ("a10101", "cbor: a key of a map is no string"),
        ("41ff", "cbor: invalid UTF-8 string"),
        (
            "f97e00",
            "cbor: numbers that are no numbers, or infinite, are not allowed",
        ),
        ("f7", "cbor: unexpected simple value 23"),
        ("c101", "cbor: unexpected tag 1"),
        (
            "3bffffffffffffffff",
            "cbor: -18446744073709551616 overflows a signed integer",
        ),
        ("1c", "cbor: invalid additional information 28"),
    ] {
        assert_eq!(read(cbor), Err(why.to_owned()), "{cbor}");
    }
    let deep = [&[0x81; 100][..], &[0]].concat();
    assert!(to_json(&deep).is_err());
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("a number that JSON keeps", |value| value.is_finite()
                && (*value != 0.0 || value.is_sign_positive()))
            .prop_map(|value| json!(value)),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn documents_come_back(tree in tree()) {
        let mut json = Vec::new();
        json::encode_value(&tree, &mut json);
        let mut cbor = Vec::new();
        from_json(&json, &mut cbor).unwrap();
        prop_assert!(cbor.starts_with(&SELF_DESCRIBED));
        let back = to_json(&cbor).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&back), String::from_utf8_lossy(&json));
    }

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(json) = to_json(&bytes) {
            prop_assert!(serde_json::from_slice::<Value>(&json).is_ok());
        }
    }
}

#[test]
fn documents_of_a_readable_depth_can_be_read() {
    for (depth, is_readable) in [(1, true), (64, true), (65, false)] {
        let json = format!("{}\"[{{\\\"[\"{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(has_readable_depth(json.as_bytes()), is_readable, "{depth}");
        let mut cbor = Vec::new();
        from_json(json.as_bytes(), &mut cbor).unwrap();
        assert_eq!(to_json(&cbor).is_ok(), is_readable, "{depth}");
    }
}
