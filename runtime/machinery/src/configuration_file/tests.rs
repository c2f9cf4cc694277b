//! Files that are accepted, and the texts about those that are not.

use serde_json::json;

use super::*;

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
struct Limits {
    #[serde(deserialize_with = "or_default")]
    limits: Vec<u32>,
    #[serde(deserialize_with = "or_default")]
    names: Vec<String>,
}

const KEY: &str = "AAECAwQFBgcICQoLDA0ODw==";

fn limits(rest: &str) -> Result<Limits, ConfigurationFileError> {
    let content = format!("apiVersion: x/v1\nkind: Limits\n{rest}\n");
    parse(content.as_bytes(), "Limits", &["x/v1", "x/v1beta1"])
}

fn problem(rest: &str) -> String {
    limits(rest).unwrap_err().to_string()
}

#[test]
fn a_file_is_read_in_yaml_and_in_json() {
    assert_eq!(limits("limits: [1]").unwrap().limits, [1]);
    assert_eq!(limits("limits:").unwrap(), Limits::default());
    for text in [
        r#"{"apiVersion": "x/v1", "kind": "Limits", "limits": [1, 2]}"#,
        "{apiVersion: x/v1, kind: Limits, limits: [1, 2]}",
    ] {
        let limits: Limits = parse(text.as_bytes(), "Limits", &["x/v1"]).unwrap();
        assert_eq!(limits.limits, [1, 2]);
    }
}

#[test]
fn a_file_names_its_kind_and_a_version() {
    let kind = |value: Value| decode::<Limits>(value, "Limits", &["x/v1", "x/v1beta1"]).unwrap_err();
    let expected = "no kind \"Other\" is registered for version \"\"; expected Limits of x/v1 or x/v1beta1";
    assert_eq!(kind(json!({"kind": "Other"})).to_string(), expected);
    assert!(kind(json!([])).to_string().starts_with("no kind \"\""));
    let old = json!({"apiVersion": "x/v1alpha1", "kind": "Limits"});
    assert!(kind(old).to_string().contains("\"x/v1alpha1\""));
}

#[test]
fn a_field_that_is_written_twice_is_refused() {
    assert_eq!(
        problem("limits: [1]\nnames: []\nlimits: [2]"),
        "strict decoding error: yaml: unmarshal errors:\n  line 5: key \"limits\" already set in map"
    );
    let twice = r#" {"apiVersion": "x/v1", "kind": "Limits", "limits": [1], "limits": []}"#;
    let error = parse::<Limits>(twice.as_bytes(), "Limits", &["x/v1"]).unwrap_err();
    assert_eq!(error.to_string(), "strict decoding error: duplicate field \"limits\"");
    assert!(document(b"a: {b: 1, b: 1}").is_err());
    assert!(document(br#"{"a": {"b": 1, "b": 1}}"#).is_err());
}

#[test]
fn an_unknown_field_is_refused() {
    let expected = "strict decoding error: unknown field `limit`, expected `limits` or `names`";
    assert_eq!(problem("limit: [1]"), expected);
}

#[test]
fn a_wrong_type_is_reported_without_the_value() {
    for (rest, expected) in [
        (
            "names: 'a, expected \"b\"'",
            "invalid type: string, expected a sequence",
        ),
        ("limits: ['1']", "invalid type: string, expected u32"),
        ("limits: {a: 1}", "invalid type: map, expected a sequence"),
    ] {
        assert_eq!(problem(rest), format!("strict decoding error: {expected}"));
    }
}

#[test]
fn a_redacted_text_has_no_key_wherever_it_stands() {
    let (quoted, braces) = (format!("names: ['{KEY}', {KEY}]\n"), format!("names: {{{{{KEY}}}}}\n"));
    for rest in [
        braces,
        format!("names: {KEY}\n"),
        format!("{KEY}: 1\n"),
        format!("{quoted}{KEY}: 1\n{KEY}: 2\n"),
        format!("names: {{{KEY}, {KEY}}}\n"),
        format!("names: !!int {KEY}\n"),
        format!("names: *{KEY}\n"),
        format!("names: [{KEY}: {{\n"),
    ] {
        let error = limits(&rest).unwrap_err();
        assert!(!error.redacted().contains(&KEY[..8]), "{rest}: {}", error.redacted());
    }
    let json = format!(r#"{{"limits": {{"{KEY}": 1, "{KEY}": 2}}}}"#);
    let error = document(json.as_bytes()).unwrap_err();
    assert_eq!(
        error.redacted(),
        "strict decoding error: duplicate field \"limits.REDACTED\""
    );
    assert!(limits("limit: 1").unwrap_err().redacted().contains("`limit`"));
    assert!(limits("names: [").unwrap_err().redacted().contains("line"));
}
