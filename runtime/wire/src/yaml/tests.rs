//! Scenarios against the behaviour of go-yaml.

use super::{from_json, to_json, write_node};

fn json(text: &str) -> String {
    String::from_utf8(to_json(text.as_bytes()).expect(text).json).expect("JSON is UTF-8")
}

fn duplicates(text: &str) -> Vec<String> {
    to_json(text.as_bytes()).expect(text).duplicates
}

fn error(text: &str) -> String {
    to_json(text.as_bytes()).expect_err(text).to_string()
}

fn yaml(json: &str) -> String {
    String::from_utf8(from_json(json.as_bytes()).expect(json)).expect("YAML is UTF-8")
}

#[test]
fn words_mean_what_they_mean_in_yaml_1_1() {
    let cases = [
        ("y", "true"),
        ("Yes", "true"),
        ("on", "true"),
        ("n", "false"),
        ("OFF", "false"),
        ("'yes'", "\"yes\""),
        ("~", "null"),
        ("", "null"),
        ("# nothing", "null"),
        ("null", "null"),
        ("nUll", "\"nUll\""),
        ("010", "8"),
        ("0o10", "8"),
        ("0x1F", "31"),
        ("-0b11", "-3"),
        ("1_000", "1000"),
        ("08", "8"),
        ("+5", "5"),
        ("1.0", "1"),
        (".5", "0.5"),
        ("1e3", "1000"),
        ("-0", "0"),
        ("18446744073709551615", "18446744073709551615"),
        ("99999999999999999999", "100000000000000000000"),
        ("1.2.3", "\"1.2.3\""),
        ("1:30", "\"1:30\""),
        ("--1", "\"--1\""),
        ("2024-01-02", "\"2024-01-02\""),
        ("2024-01-02T03:04:05Z", "\"2024-01-02T03:04:05Z\""),
        ("!!str 5", "\"5\""),
        ("!!int '5'", "5"),
        ("!!float 5", "5"),
        ("!!binary aGk=", "\"hi\""),
        ("!!binary aGl=", "\"hi\""),
        ("!mine 5", "\"5\""),
        ("1e400", "\"1e400\""),
    ];
    for (text, expected) in cases {
        assert_eq!(json(text), expected, "{text:?}");
    }
}

#[test]
fn documents_become_json_with_sorted_keys() {
    assert_eq!(
        json("b: 1\na: {on: x, 1: w, 1.5: z}\nc: [1, \"2\"]\n"),
        r#"{"a":{"1":"w","1.5":"z","true":"x"},"b":1,"c":[1,"2"]}"#
    );
    assert_eq!(
        json("a: |\n  two\n  lines\nb: >-\n  one\n  line\n"),
        r#"{"a":"two\nlines\n","b":"one line"}"#
    );
    assert_eq!(json("a: 1\n---\nb: 2\n"), r#"{"a":1}"#);
    assert_eq!(
        json(r#"{"apiVersion":"v1","data":{"a":"\u00e9<"}}"#),
        r#"{"apiVersion":"v1","data":{"a":"é\u003c"}}"#
    );
}

#[test]
fn anchors_and_merge_keys_are_followed() {
    assert_eq!(
        json("a: &x {k: 1, l: 2}\nb: *x\nc: {<<: *x, k: 3}\n"),
        r#"{"a":{"k":1,"l":2},"b":{"k":1,"l":2},"c":{"k":3,"l":2}}"#
    );
    assert_eq!(
        json("a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc: {<<: [*x, *y]}\n"),
        r#"{"a":{"k":1},"b":{"k":2,"m":3},"c":{"k":1,"m":3}}"#
    );
    assert_eq!(error("a: *x-y, b\n"), "yaml: unknown anchor 'x-y' referenced");
    assert!(error("a: &x [*x]\n").contains("contains itself"));
    assert!(error("a: &x 1\n<<: *x\n").contains("map merge requires map"));
}

#[test]
fn laughing_billions_are_refused() {
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let previous = vec![format!("*a{}", level - 1); 9].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{previous}]\n"));
    }
    assert_eq!(error(&bomb), "yaml: document contains excessive aliasing");
}

#[test]
fn keys_that_stand_twice_are_reported_and_the_last_one_wins() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y2}\ndata: {a: '1', a: '2'}\n";
    assert_eq!(duplicates(text), [r#"line 4: key "a" already set in map"#]);
    assert!(json(text).contains(r#""data":{"a":"2"}"#));
    assert_eq!(
        duplicates("spec:\n  a: x\n  a: y\n  1: a\n  1: b\n  '1': c\n"),
        [
            r#"line 3: key "a" already set in map"#,
            "line 5: key 1 already set in map",
        ]
    );
}

#[test]
fn later_documents_are_ignored() {
    assert_eq!(json("a: 1\n---\nb: [\n"), "{\"a\":1}");
}

#[test]
fn invalid_yaml_is_refused() {
    for (text, expected) in [
        ("a: b: c\n", "yaml: mapping values are not allowed in this context"),
        (
            "a: 1\nb: c: d\n",
            "yaml: line 2: mapping values are not allowed in this context",
        ),
        ("a: 1\nb\nc: 2\n", "yaml: line 2: could not find expected ':'"),
        (
            "a:\n\t- b\n",
            "yaml: line 2: found character that cannot start any token",
        ),
        ("a: @b\n", "yaml: found character that cannot start any token"),
        ("a: [1, 2\nb: 3\n", "yaml: line 1: did not find expected ',' or ']'"),
        (
            "a: 1\n b: 2\n",
            "yaml: line 2: mapping values are not allowed in this context",
        ),
        ("a: 1\n- b\n", "yaml: line 1: did not find expected key"),
        (
            "a: 1\nb:\n  - c\n  d: e\n",
            "yaml: line 2: did not find expected '-' indicator",
        ),
        ("a: \"x", "yaml: found unexpected end of stream"),
        ("a: \"x\n", "yaml: line 2: found unexpected end of stream"),
        (
            "a: 1\nb: \"\\x4\"\n",
            "yaml: line 2: did not find expected hexdecimal number",
        ),
        ("a: 1\nb: 'x\n", "yaml: line 3: found unexpected end of stream"),
        ("a: ]\n", "yaml: did not find expected node content"),
        ("a: [b]]\n", "yaml: did not find expected key"),
        (
            "a: b\n\tc: d\n",
            "yaml: line 2: found a tab character that violates indentation",
        ),
        (
            "{~: b}",
            "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"b\"",
        ),
        (
            "{~: ~}",
            "unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>",
        ),
        (
            "{9223372036854775808: {a: [1]}}",
            "unsupported map key of type: uint64, key: 0x8000000000000000, value: \
             map[interface {}]interface {}{\"a\":[]interface {}{1}}",
        ),
        ("{[a, 1]: b}", "yaml: invalid map key: []interface {}{\"a\", 1}"),
        ("a: \"\\q\"\n", "yaml: found unknown escape character"),
    ] {
        assert_eq!(error(text), expected, "{text:?}");
    }
    assert!(error("a: [1,\n").starts_with("yaml: line "));
    assert_eq!(
        to_json(b"\xff").expect_err("not UTF-8").to_string(),
        "yaml: invalid leading UTF-8 octet"
    );
    assert_eq!(error(".inf"), "json: unsupported value: +Inf");
    assert!(error("!!int x").contains("cannot decode !!str `x` as a !!int"));
    assert!(error(&"[".repeat(100_000)).contains("exceeded max depth"));
    assert!(error(&("- ".repeat(50_000) + "x")).contains("exceeded max depth"));
}

#[test]
fn json_is_written_in_the_style_of_go_yaml() {
    let text = yaml(
        r#"{"b":[{"y":1,"x":[]},[1,[2]],"s"],"a":{"k":{},"n":null,"t":true},"f":1.5,"e":[[{"p":{"q":1}}]],"list":["a"]}"#,
    );
    let expected = "a:\n  k: {}\n  \"n\": null\n  t: true\nb:\n- x: []\n  \"y\": 1\n- - 1\n  - - 2\n- s\ne:\n- - p:\n      q: 1\nf: 1.5\nlist:\n- a\n";
    assert_eq!(text, expected);
    for (json, expected) in [
        ("{}", "{}\n"),
        ("[]", "[]\n"),
        ("5", "5\n"),
        ("\"x\"", "x\n"),
        ("null", "null\n"),
        ("[1]", "- 1\n"),
    ] {
        assert_eq!(yaml(json), expected);
    }
}

#[test]
fn texts_are_quoted_only_where_needed() {
    let cases = [
        ("plain text", "plain text"),
        ("", "\"\""),
        ("yes", "\"yes\""),
        ("1", "\"1\""),
        ("1.5e3", "\"1.5e3\""),
        ("0x1F", "\"0x1F\""),
        ("null", "\"null\""),
        ("2024-01-02T03:04:05Z", "\"2024-01-02T03:04:05Z\""),
        ("2024-01-02", "\"2024-01-02\""),
        ("2024-13-02", "2024-13-02"),
        ("2024-01-02\u{51e}a", "2024-01-02\u{51e}a"),
        ("1:30", "\"1:30\""),
        ("a: b", "'a: b'"),
        ("a:b", "a:b"),
        ("a #b", "'a #b'"),
        ("#b", "'#b'"),
        ("- a", "'- a'"),
        ("-a", "-a"),
        ("it's", "it's"),
        ("'it's", "'''it''s'"),
        (" a", "' a'"),
        ("a ", "'a '"),
        ("{}", "'{}'"),
        ("*x", "'*x'"),
        ("a\tb", "\"a\\tb\""),
        ("é", "é"),
        ("😀", "\"\\U0001F600\""),
        ("\u{7f}", "\"\\x7F\""),
        ("<<", "<<"),
        ("---", "'---'"),
        (":", "':'"),
        ("?x", "?x"),
        ("a\\b", "a\\b"),
        ("\"q\"", "'\"q\"'"),
        ("=", "="),
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\n", "|+\n  a\n"),
        (" a\nb", "|2-\n   a\n  b"),
        ("a \nb", "\"a \\nb\""),
        ("a\nb ", "\"a\\nb \""),
    ];
    for (text, expected) in cases {
        let value = serde_json::json!({ "k": text });
        let written = yaml(&value.to_string());
        assert_eq!(written, format!("k: {expected}\n"), "{text:?}");
        let read: serde_json::Value = serde_json::from_str(&json(&written)).expect("JSON");
        assert_eq!(read, value, "{text:?}");
    }
}

#[test]
fn long_lines_are_folded_behind_column_80() {
    let message = r#"{"message":"only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"}"#;
    let expected = "message: 'only the following media types are accepted: application/json;stream=watch,\n  application/vnd.kubernetes.protobuf;stream=watch'\n";
    assert_eq!(yaml(message), expected);
    let key = "k".repeat(130);
    assert_eq!(yaml(&format!(r#"{{"{key}":1}}"#)), format!("? {key}\n: 1\n"));
}

#[test]
fn aliases_do_not_repeat_long_texts_without_limit() {
    let text = "x".repeat(100_000);
    for repeated in ["*a,".repeat(200), "{*a : 1},".repeat(200), "{<<: *m},".repeat(200)] {
        let document = format!("x: &a {text}\nm: &m {{{text}: 1}}\ny: [{repeated}]\n");
        assert_eq!(error(&document), "yaml: document contains excessive aliasing");
    }
    let few = format!("x: &a {text}\ny: [{}]\n", "*a,".repeat(20));
    assert!(to_json(few.as_bytes()).is_ok());
}

#[test]
fn nodes_without_a_style_are_written_as_by_go_yaml_3() {
    let cases = [
        (r#""text""#, "text\n"),
        (r#""""#, "\"\"\n"),
        (r#""yes""#, "yes\n"),
        (r#""1:30""#, "1:30\n"),
        (r#""0x1f""#, "\"0x1f\"\n"),
        (r#""1_000""#, "\"1_000\"\n"),
        (r#""2001-01-01""#, "\"2001-01-01\"\n"),
        (r#""true""#, "\"true\"\n"),
        (r#""a: b""#, "'a: b'\n"),
        (r#""- a""#, "'- a'\n"),
        (r#""it's""#, "it's\n"),
        (r#""a #b""#, "'a #b'\n"),
        (r#"" a""#, "' a'\n"),
        (r#""a\tb""#, "\"a\\tb\"\n"),
        (r#""\u00e9""#, "é\n"),
        (r#""say \"x\"""#, "say \"x\"\n"),
        (r#""a\nb""#, "|-\n    a\n    b\n"),
        (r#""a\tb\n\nc\n""#, "|\n    a\tb\n\n    c\n"),
        (r#""\n a\n\n""#, "|4+\n\n     a\n\n"),
        (r#""a \nb""#, "\"a \\nb\"\n"),
        ("null", "null\n"),
        ("true", "true\n"),
        ("1.5", "1.5\n"),
        ("{}", "{}\n"),
        ("[]", "[]\n"),
        (
            r#"[{"fieldPath":"spec.color"},{"fieldPath":"spec.size"}]"#,
            "- fieldPath: spec.color\n- fieldPath: spec.size\n",
        ),
        (
            r#"{"a":{"b":[1,{"c":[2],"d":{"e":"x\ny"}}]},"f":[[3,4],[]],"g\nh":{"i":1},"true":["k\n"]}"#,
            "a:\n    b:\n        - 1\n        - c:\n            - 2\n          d:\n            e: |-\n                x\n                y\nf:\n    - - 3\n      - 4\n    - []\n? |-\n    g\n    h\n:   i: 1\n\"true\":\n    - |\n      k\n",
        ),
        (
            r#""word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end""#,
            "word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word end\n",
        ),
    ];
    for (json, expected) in cases {
        let tree: serde_json::Value = serde_json::from_str(json).expect(json);
        let mut written = String::new();
        write_node(&tree, &mut written);
        assert_eq!(written, expected, "{json}");
    }
}
