use super::*;
use crate::feature::Feature;

fn bodies(errors: &FieldErrors) -> Vec<String> {
    errors.as_slice().iter().map(FieldError::message).collect()
}

#[test]
fn messages_are_worded_as_go_prints_values() {
    let mut errors = FieldErrors::default();
    errors.required("a", "");
    errors.required("a", "must not be empty");
    errors.invalid("b", "x\ny", "is odd");
    errors.invalid("b", 7, "");
    errors.not_supported("c", "z", &["Warn", "Ignore", ""]);
    errors.forbidden("d", "not here");
    errors.duplicate("e", "twice");
    errors.not_found("f", "gone");
    errors.too_long("g", 128);
    errors.too_long("g", 1);
    errors.too_many("h", 5, 1);
    errors.too_few("h", 0, 2);
    errors.internal("i", "broke");
    errors.invalid("j", ["a".to_owned(), "b".to_owned()].as_slice(), "");
    let expected = [
        "a: Required value",
        "a: Required value: must not be empty",
        "b: Invalid value: \"x\\ny\": is odd",
        "b: Invalid value: 7",
        "c: Unsupported value: \"z\": supported values: \"\", \"Ignore\", \"Warn\"",
        "d: Forbidden: not here",
        "e: Duplicate value: \"twice\"",
        "f: Not found: \"gone\"",
        "g: Too long: may not be more than 128 bytes",
        "g: Too long: may not be more than 1 byte",
        "h: Too many: 5: must have at most 1 item",
        "h: Too few: 0: must have at least 2 items",
        "i: Internal error: broke",
        "j: Invalid value: [\"a\",\"b\"]",
    ];
    assert_eq!(bodies(&errors), expected);
}

#[test]
fn paths_nest_by_field_index_and_key() {
    let mut errors = FieldErrors::default();
    {
        let mut spec = errors.at("spec");
        {
            let mut port = spec.at_index("ports", 2);
            port.required("name", "");
            port.duplicate("", "http");
            port.at_key("labels", "a b").required("", "");
        }
        spec.required("size", "");
    }
    errors.required("status.phase", "");
    let fields: Vec<&str> = errors.as_slice().iter().map(|error| error.field.as_str()).collect();
    let expected = [
        "spec.ports[2].name",
        "spec.ports[2]",
        "spec.ports[2].labels[a b]",
        "spec.size",
        "status.phase",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn errors_beyond_all_reason_are_counted() {
    let mut errors = FieldErrors::default();
    let long = "x".repeat(MAX_SIZE / 2);
    for _ in 0..5 {
        errors.invalid("owners", &long, "is odd");
    }
    assert_eq!(errors.causes().len(), 2);
    let joined = errors.joined().unwrap_or_default();
    assert!(
        joined.ends_with(": is odd, and 3 more]"),
        "{}",
        &joined[joined.len() - 40..]
    );
}

#[test]
fn errors_apart_are_found_by_the_rules_of_the_same_server() {
    const ALPHA: Feature = Feature::off("Alpha");
    let mut errors = FieldErrors::new(&Features::default().with(&ALPHA, true));
    errors.required("name", "");
    let errors = &mut *errors.at("spec");
    let mut separate = errors.separate();
    separate.required("size", "");
    assert_eq!(separate.as_slice()[0].field, "size");
    assert!(separate.features().has(&ALPHA));
    errors.clear();
    assert!(errors.is_empty() && errors.features().has(&ALPHA));
    errors.required("size", "");
    assert_eq!(errors.as_slice()[0].field, "spec.size");
    assert!(!FieldErrors::default().features().has(&ALPHA));
}
