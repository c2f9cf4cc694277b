use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use super::*;

fn text(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).expect("a tree is JSON")
}

fn tree(patched: Result<Patched<'_>, ApiError>) -> Result<Value, (u16, String)> {
    patched
        .map(|patched| serde_json::from_slice(&patched.document).expect("patched documents are JSON"))
        .map_err(|error| (error.code(), error.message().to_owned()))
}

fn merged(document: &Value, patch: &Value) -> Result<Value, (u16, String)> {
    tree(merge_patch(&text(document), &text(patch), Strictness::Strict))
}

fn patched(document: &Value, patch: &Value) -> Result<Value, (u16, String)> {
    tree(json_patch(&text(document), &text(patch), Strictness::Strict))
}

const REJECTED: &str = "the server rejected our request due to an error in our request";

#[test]
fn merge_patch_sets_replaces_and_removes() {
    let document = json!({"a": {"x": 1, "y": [1, 2]}, "b": "t", "n": null});
    let patch = json!({"a": {"x": null, "y": [3], "z": {"p": null, "q": 1}}, "c": {"d": null}, "n": {"e": null}});
    let expected = json!({"a": {"y": [3], "z": {"q": 1}}, "b": "t", "c": {}, "n": {}});
    assert_eq!(merged(&document, &patch), Ok(expected));
}

#[test]
fn a_list_that_replaces_an_object_keeps_nulls() {
    let document = json!({"a": {"x": 1}, "b": [1]});
    let patch = json!({"a": [{"x": null}], "b": [{"x": null}]});
    assert_eq!(merged(&document, &patch), Ok(json!({"a": [{"x": null}], "b": [{}]})));
}

#[test]
fn values_outside_a_merge_patch_keep_their_text() {
    let document = br#"{"z":{"b":1,"a":1.50},"y":1,"x":"\u003c"}"#;
    let patched = merge_patch(document, br#"{"y":2}"#, Strictness::Strict).expect("legal");
    assert_eq!(
        String::from_utf8_lossy(&patched.document),
        r#"{"x":"\u003c","y":2,"z":{"b":1,"a":1.50}}"#
    );
}

#[test]
fn merge_patch_must_be_an_object() {
    let document = json!({});
    let refused = |patch: &str| tree(merge_patch(&text(&document), patch.as_bytes(), Strictness::Strict));
    let array = "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
    assert_eq!(refused("[]"), Err((400, array.to_owned())));
    assert_eq!(refused("null"), Err((400, "Invalid JSON Patch".to_owned())));
    assert_eq!(
        refused("{\"spec\":"),
        Err((400, "error decoding patch: unexpected end of JSON input".to_owned()))
    );
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "1");
    assert_eq!(refused(&deep).map_err(|(code, _)| code), Err(400));
}

#[test]
fn without_validation_a_merge_patch_is_not_decoded_beforehand() {
    let merged = |patch: &str| tree(merge_patch(b"{}", patch.as_bytes(), Strictness::Lenient));
    for patch in ["{\"a\"", "", "{} {}", "\"x\"", "5", "null"] {
        assert_eq!(merged(patch), Err((400, "Invalid JSON Patch".to_owned())), "{patch}");
    }
    assert_eq!(merged("[null,{\"a\":null}]"), Ok(json!([null, {}])));
}

#[test]
fn repeated_field_of_a_patch_is_noticed() {
    let patched = merge_patch(b"{}", br#"{"a":1,"a":2}"#, Strictness::Strict).expect("legal");
    assert_eq!(patched.findings, [r#"duplicate field "a""#]);
    assert_eq!(patched.document, br#"{"a":2}"#);
}

#[test]
fn a_document_with_repeated_keys_is_not_sorted() {
    assert_eq!(
        sorted(br#"{"b":{"z":1,"a":2},"a":[]}"#).as_deref(),
        Some(&br#"{"a":[],"b":{"a":2,"z":1}}"#[..])
    );
    assert_eq!(sorted(br#"{"a":1,"a":2}"#), None);
    assert_eq!(sorted(b"{"), None);
}

#[test]
fn operations_are_carried_out_in_order() {
    let document = json!({"a": "1", "l": [1, 2, 3], "o": {"x/y": 1, "m~n": 2}});
    let cases = [
        (
            json!([{"op": "add", "path": "/b", "value": 2}, {"op": "replace", "path": "/b", "value": 3}]),
            json!({"b": 3}),
        ),
        (
            json!([{"op": "remove", "path": "/o/x~1y"}, {"op": "remove", "path": "/o/m~0n"}]),
            json!({"o": {}}),
        ),
        (
            json!([{"op": "move", "path": "/b", "from": "/a"}]),
            json!({"a": null, "b": "1"}),
        ),
        (
            json!([{"op": "copy", "path": "/b", "from": "/none"}]),
            json!({"b": null}),
        ),
        (
            json!([{"op": "add", "path": "/l/-", "value": 4}]),
            json!({"l": [1, 2, 3, 4]}),
        ),
        (
            json!([{"op": "add", "path": "/l/1", "value": 9}]),
            json!({"l": [1, 9, 2, 3]}),
        ),
        (json!([{"op": "remove", "path": "/l/-1"}]), json!({"l": [1, 2]})),
        (
            json!([{"op": "replace", "path": "/l/-3", "value": 0}]),
            json!({"l": [0, 2, 3]}),
        ),
        (
            json!([{"op": "replace", "path": "/none", "value": 1}]),
            json!({"none": 1}),
        ),
        (json!([{"op": "add", "path": "drop/b", "value": 1}]), json!({"b": 1})),
        (json!([{"op": "add", "path": "/b"}]), json!({"b": null})),
        (
            json!([{"op": "test", "path": "/a", "value": "1"}, {"op": "test", "path": "/l", "value": [1, 2, 3]}]),
            json!({}),
        ),
        (json!([{"op": "test", "path": "/none", "value": null}]), json!({})),
        (json!([]), json!({})),
    ];
    for (patch, changes) in cases {
        let mut expected = document.clone();
        for (key, value) in changes.as_object().expect("changes by key") {
            match (key.as_str(), value) {
                ("a", Value::Null) => drop(expected.as_object_mut().expect("an object").remove(key)),
                _ => expected[key] = value.clone(),
            }
        }
        assert_eq!(patched(&document, &patch), Ok(expected), "{patch}");
    }
    let whole = json!([{"op": "replace", "path": "", "value": {"w": 1}}]);
    assert_eq!(patched(&document, &whole), Ok(json!({"w": 1})));
}

#[test]
fn failing_operation_rejects_the_whole_patch() {
    let document = json!({"a": "1", "l": [1], "n": 8080});
    for patch in [
        json!([{"op": "test", "path": "/a", "value": "2"}]),
        json!([{"op": "remove", "path": "/none"}]),
        json!([{"op": "move", "path": "/b", "from": "/none"}]),
        json!([{"op": "add", "path": "/none/b", "value": 1}]),
        json!([{"op": "add", "path": "/l/2", "value": 1}]),
        json!([{"op": "replace", "path": "/l/1", "value": 1}]),
        json!([{"op": "remove", "path": "/l/-2"}]),
        json!([{"op": "add", "path": "/a/b", "value": 1}]),
        json!([{"op": "add", "value": "x"}]),
        json!([{"op": "move", "path": "/b"}]),
        json!([{"path": "/b", "value": "x"}]),
        json!([{"op": "merge", "path": "/b"}]),
        json!([{"op": "replace", "path": "", "value": 1}]),
        json!([{"op": "add", "path": "", "value": {}}]),
        json!([null]),
    ] {
        assert_eq!(patched(&document, &patch), Err((422, REJECTED.to_owned())), "{patch}");
    }
    // Values are compared as they are written.
    for test in [
        r#"[{"op":"test","path":"/n","value":8080.0}]"#,
        r#"[{"op":"test","path":"/a","value":"\u0031"}]"#,
    ] {
        assert_eq!(
            tree(json_patch(&text(&document), test.as_bytes(), Strictness::Strict)),
            Err((422, REJECTED.to_owned())),
            "{test}"
        );
    }
}

#[test]
fn json_patch_must_be_a_list_of_operations() {
    let refused = |patch: &str| tree(json_patch(b"{}", patch.as_bytes(), Strictness::Strict)).map_err(|(_, text)| text);
    let cases = [
        (
            "{}",
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            "\"x\"",
            "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp",
        ),
        (
            "[1]",
            "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        (
            "[{\"op\":1}]",
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
        ("[{", "error decoding patch: unexpected end of JSON input"),
        ("", "error decoding patch: unexpected end of JSON input"),
    ];
    for (patch, message) in cases {
        assert_eq!(refused(patch), Err(message.to_owned()));
    }
}

#[test]
fn without_validation_operations_are_read_when_they_are_carried_out() {
    let refused = |patch: &str| tree(json_patch(b"{}", patch.as_bytes(), Strictness::Lenient));
    let cases = [
        (
            "{}",
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (
            "[1]",
            "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
        ),
        ("[{", "unexpected end of JSON input"),
        ("[] []", "invalid character '[' after top-level value"),
    ];
    for (patch, message) in cases {
        assert_eq!(refused(patch), Err((400, message.to_owned())), "{patch}");
    }
    for patch in [
        r#"[{"op":1}]"#,
        r#"[{"op":"add","path":1,"value":1}]"#,
        r#"[{"op":"move","path":"/a","from":1}]"#,
    ] {
        assert_eq!(refused(patch), Err((422, REJECTED.to_owned())), "{patch}");
    }
}

#[test]
fn json_patch_has_a_limited_number_of_operations() {
    let operation = json!({"op": "test", "path": "/a", "value": 1});
    let many = |count: usize| Value::Array(vec![operation.clone(); count]);
    assert_eq!(patched(&json!({"a": 1}), &many(MAX_OPERATIONS)), Ok(json!({"a": 1})));
    let message = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001";
    assert_eq!(
        patched(&json!({"a": 1}), &many(MAX_OPERATIONS + 1)),
        Err((413, message.to_owned()))
    );
}

#[test]
fn copies_cannot_blow_up_a_document() {
    let document = json!({"a": ["x".repeat(1000)]});
    let double = json!({"op": "copy", "path": "/a/-", "from": "/a"});
    assert_eq!(
        patched(&document, &Value::Array(vec![double; 40])),
        Err((422, REJECTED.to_owned()))
    );
}

#[test]
fn a_value_that_is_copied_into_itself_has_sorted_keys() {
    let patch = br#"[{"op":"copy","from":"/a","path":"/a/b/d"}]"#;
    let document = br#"{"a":{"z":1,"b":{"y":1,"c":{"q":1,"p":1}}}}"#;
    let patched = json_patch(document, patch, Strictness::Strict).expect("legal");
    let copy = r#"{"b":{"c":{"q":1,"p":1},"y":1},"z":1}"#;
    assert_eq!(
        String::from_utf8_lossy(&patched.document),
        format!(r#"{{"a":{{"b":{{"c":{{"q":1,"p":1}},"d":{copy},"y":1}},"z":1}}}}"#)
    );
}

#[test]
fn unknown_members_of_operations_are_noticed() {
    let patch = br#"[{"op":"add","path":"/u","value":"1","comment":"ignored"}]"#;
    let patched = json_patch(b"{}", patch, Strictness::Strict).expect("legal");
    assert_eq!(patched.findings, [r#"json patch unknown field "[0].comment""#]);
}

#[test]
fn findings_have_the_order_of_the_operations() {
    let patch = br#"[{"op":"add","path":"/u","value":"1","foo":1},{"op":"add","path":"/v","path":"/w","value":"1"}]"#;
    let patched = json_patch(b"{}", patch, Strictness::Strict).expect("legal");
    let expected = ["unknown field \"[0].foo\"", "duplicate field \"[1].path\""];
    assert_eq!(
        patched.findings,
        expected.map(|finding| format!("json patch {finding}"))
    );
}

#[test]
fn undecodable_result_is_shown_whole() {
    let patched = merge_patch(b"{\"a\":1}", b"{\"b\":2}", Strictness::Strict).expect("legal");
    let error = patched.refuse("bad");
    assert_eq!(
        error.message(),
        r#" "" is invalid: patch: Invalid value: "{\"a\":1,\"b\":2}": bad"#
    );
    assert!(patched.refuse_strictly(&Findings::default()).is_none());
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        prop::sample::select(vec!["", "x", "é<", "0"]).prop_map(Value::from),
    ]
}

fn any_tree() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c/d", "metadata", "managedFields"]).prop_map(str::to_owned)
}

fn any_object() -> impl Strategy<Value = Value> {
    prop::collection::vec((key(), any_tree()), 0..4).prop_map(|entries| Value::Object(entries.into_iter().collect()))
}

fn pointer() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(prop::sample::select(vec!["a", "b", "c~1d", "0", "1", "-1", "-"]), 0..4)
            .prop_map(|steps| steps.iter().map(|step| format!("/{step}")).collect()),
        1 => "[ab/~0-]{0,6}",
    ]
}

fn operation() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test", "odd"]);
    (kind, pointer(), pointer(), any_tree())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
}

/// Merge patch as RFC 7386 words it, with nulls dropped from lists too, unless these replace objects.
fn model(target: &Value, patch: &Value) -> Value {
    let Value::Object(changes) = patch else {
        return if target.is_object() {
            patch.clone()
        } else {
            pruned(patch)
        };
    };
    let mut merged = target.as_object().cloned().unwrap_or_default();
    for (key, change) in changes {
        match change {
            Value::Null => drop(merged.remove(key)),
            change => {
                let old = merged.get(key).cloned().unwrap_or(Value::Null);
                merged.insert(key.clone(), model(&old, change));
            }
        }
    }
    Value::Object(merged)
}

fn pruned(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let kept = entries.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), pruned(value))).collect())
        }
        Value::Array(elements) => Value::Array(elements.iter().map(pruned).collect()),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn merge_patch_follows_its_model(document in any_object(), patch in any_object()) {
        prop_assert_eq!(merged(&document, &patch), Ok(model(&document, &patch)));
    }

    #[test]
    fn merge_patch_done_again_and_again_changes_nothing_more(document in any_object(), patch in any_object()) {
        let once = merged(&document, &patch).expect("an object");
        // A list that has replaced an object is replaced by one without nulls.
        let twice = merged(&once, &patch).expect("an object");
        prop_assert_eq!(merged(&twice, &patch), Ok(twice));
    }

    #[test]
    fn operations_agree_with_the_standard_where_it_speaks(
        document in any_object(),
        operations in prop::collection::vec(operation(), 1..5),
    ) {
        let patch = Value::Array(operations);
        let ours = patched(&document, &patch);
        let mut theirs = document.clone();
        // Ours is more liberal: patches that the standard accepts must give the same, those that it refuses may pass.
        if let Ok(patch) = serde_json::from_value::<::json_patch::Patch>(patch)
            && ::json_patch::patch_unsafe(&mut theirs, &patch).is_ok()
            && theirs.is_object()
            && uses_no_liberty(&patch)
        {
            prop_assert_eq!(ours, Ok(theirs));
        }
    }

    #[test]
    fn any_bytes_are_a_patch_or_refused(patch in prop::collection::vec(any::<u8>(), 0..40)) {
        for refused in [
            merge_patch(b"{\"a\":{}}", &patch, Strictness::Strict),
            json_patch(b"{\"a\":{}}", &patch, Strictness::Lenient),
        ] {
            if let Err(error) = refused {
                prop_assert!(matches!(error.code(), 400 | 413 | 422));
            }
        }
    }
}

/// Without a first slash, or the whole document as the place to add, the two differ on purpose.
fn uses_no_liberty(patch: &::json_patch::Patch) -> bool {
    use ::json_patch::PatchOperation as Op;
    patch.0.iter().all(|operation| {
        let value_stays = match operation {
            Op::Move(operation) => !operation.from.is_root(),
            Op::Copy(operation) => !operation.from.is_root(),
            _ => true,
        };
        value_stays && !operation.path().is_root()
    })
}

#[test]
fn elements_are_not_pushed_along_without_limit() {
    let document = json!({"x": vec![0; 100_000]});
    let operations =
        |path: &str, count: usize| Value::from(vec![json!({"op": "add", "path": path, "value": 1}); count]);
    let rejected = Err((422, REJECTED.to_owned()));
    assert_eq!(patched(&document, &operations("/x/0", 200)), rejected);
    let removals = Value::from(vec![json!({"op": "remove", "path": "/x/0"}); 200]);
    assert_eq!(patched(&document, &removals), rejected);
    assert!(patched(&document, &operations("/x/-", 200)).is_ok());
    assert!(patched(&document, &operations("/x/0", 100)).is_ok());
}

#[test]
fn operations_that_fail_have_a_reason() {
    let document = text(&json!({"data": {"k": "v"}, "list": [1, 2]}));
    let apply = |operations: Value| match apply_operations(&document, &operations) {
        Ok(patched) => String::from_utf8(patched).expect("JSON is text"),
        Err(refusal) => refusal.to_string(),
    };
    for (operation, expected) in [
        (
            json!({"op": "remove", "path": "/data/gone"}),
            "error in remove for path: '/data/gone': Unable to remove nonexistent key: gone: missing value",
        ),
        (
            json!({"op": "add", "path": "/no/where", "value": 1}),
            "add operation does not apply: doc is missing path: \"/no/where\": missing value",
        ),
        (
            json!({"op": "replace", "path": "/list/7", "value": 1}),
            "replace operation does not apply: doc is missing key: /list/7: missing value",
        ),
        (
            json!({"op": "add", "path": "/list/7", "value": 1}),
            "error in add for path: '/list/7': Unable to access invalid index: 7: invalid index referenced",
        ),
        (
            json!({"op": "move", "from": "/data/x", "path": "/data/y"}),
            "error in move for path: 'x': Unable to remove nonexistent key: x: missing value",
        ),
        (json!({"op": "jump", "path": "/data"}), "Unexpected kind: jump"),
        (
            json!({"op": "add", "value": 1}),
            "add operation failed to decode path: missing value",
        ),
        (
            json!({"op": "replace", "value": 1}),
            "replace operation failed to decode path: operation missing path field: missing value",
        ),
        (
            json!({"op": "add", "path": "/list/-", "value": 3}),
            r#"{"data":{"k":"v"},"list":[1,2,3]}"#,
        ),
    ] {
        assert_eq!(apply(json!([operation])), expected, "{operation}");
    }
    let test = json!([{"op": "test", "path": "/data/k", "value": "w"}]);
    let refused = apply_operations(&document, &test);
    assert_eq!(
        refused,
        Err(Refusal::TestFailed(
            "testing value /data/k failed: test failed".to_owned()
        ))
    );
}
