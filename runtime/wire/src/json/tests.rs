//! Scenarios over documents without a type.

use super::{Strictness, depth, encode_value, parse_value, type_meta};

#[test]
fn the_kind_of_a_document_is_found_without_its_type() {
    let meta = type_meta(br#" {"metadata":{"kind":"x"},"Kind":"A","kind":"B","apiVersion":null} "#).expect("valid");
    assert_eq!((meta.kind.as_str(), meta.api_version.as_str()), ("B", ""));
    let message = |text: &str| type_meta(text.as_bytes()).expect_err(text).to_string();
    assert_eq!(
        message(r#"{"kind":5}"#),
        "json: cannot unmarshal number into Go struct field .kind of type string"
    );
    assert_eq!(
        message("[]"),
        r#"json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#
    );
    assert_eq!(message(""), "unexpected end of JSON input");
}

#[test]
fn duplicate_keys_of_a_tree_are_found_and_the_last_one_wins() {
    let (tree, findings) = parse_value(
        br#"{"a":{"b":1,"b":2.50,"c":1e2},"a":{"x":[{"y":1,"y":1}]}}"#,
        Strictness::Strict,
    )
    .expect("valid");
    let mut text = Vec::new();
    encode_value(&tree, &mut text);
    assert_eq!(text, br#"{"a":{"x":[{"y":1}]}}"#);
    assert_eq!(
        findings.to_string(),
        r#"duplicate field "a.b", duplicate field "a", duplicate field "a.x[0].y""#
    );
}

#[test]
fn depth_is_counted_outside_of_texts() {
    for (json, expected) in [
        ("1", 0),
        ("[]", 1),
        (r#"{"a":[{}],"b":[]}"#, 3),
        (r#"["[[[","\"[{"]"#, 1),
    ] {
        assert_eq!(depth(json.as_bytes()), expected, "{json}");
    }
}
