use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::facts::TypeFacts;
use planesmith_machinery::value::Shape;
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use serde_json::json;

use super::*;

/// An entry.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Env {
    /// Name.
    name: String,
    /// Value.
    value: String,
}

/// A container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Container {
    /// Name.
    name: String,
    /// Image.
    image: String,
    /// Entries by name.
    #[field(patch_strategy(merge), patch_merge_key = "name")]
    env: Vec<Env>,
    /// Replaced.
    args: Vec<String>,
}

/// A choice.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Choice {
    /// A type.
    r#type: String,
    /// One of them.
    rolling: Option<Env>,
}

/// A spec.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct PodSpec {
    /// Containers by name.
    #[field(patch_strategy(merge), patch_merge_key = "name")]
    containers: Vec<Container>,
    /// Plain values.
    #[field(patch_strategy(merge))]
    finalizers: Vec<String>,
    /// Replaced.
    tolerations: Vec<Env>,
    /// Texts.
    node_selector: BTreeMap<String, String>,
    /// A choice.
    #[field(patch_strategy(retain_keys))]
    choice: Choice,
}

fn facts() -> &'static StructFacts {
    match PodSpec::TYPE {
        TypeFacts::Struct(facts) => facts(),
        other => unreachable!("a struct is described as {other:?}"),
    }
}

fn merge(document: &Value, patch: &Value) -> Result<Value, (u16, String)> {
    let text = |value: &Value| serde_json::to_vec(value).expect("a tree is JSON");
    strategic_merge_patch(facts(), &text(document), &text(patch), Strictness::Strict)
        .map(|patched| serde_json::from_slice(&patched.document).expect("patched documents are JSON"))
        .map_err(|error| (error.code(), error.message().to_owned()))
}

fn spec() -> Value {
    json!({
        "containers": [
            {"name": "web", "image": "web:1", "args": ["x"], "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"name": "side", "image": "side:1"},
        ],
        "finalizers": ["a", "b", "c"],
        "tolerations": [{"name": "t"}],
        "nodeSelector": {"x": "1", "y": "2"},
        "choice": {"type": "Rolling", "rolling": {"name": "r"}},
    })
}

fn check(patch: &Value, place: &str, expected: &Value) {
    let merged = merge(&spec(), patch).expect("legal");
    assert_eq!(merged.pointer(place).unwrap_or(&Value::Null), expected, "{patch}");
}

#[test]
fn keyed_elements_are_merged_and_new_ones_go_first() {
    let patch = json!({"containers": [{"name": "web", "image": "web:2", "args": ["z"], "env": [{"name": "B", "value": null}]}]});
    let merged =
        json!({"name": "web", "image": "web:2", "args": ["z"], "env": [{"name": "A", "value": "1"}, {"name": "B"}]});
    check(&patch, "/containers/0", &merged);
    let patch = json!({"containers": [{"name": "new"}]});
    check(&patch, "/containers/0/name", &json!("new"));
    check(&patch, "/containers/2/name", &json!("side"));
    check(
        &json!({"tolerations": [{"name": "u"}]}),
        "/tolerations",
        &json!([{"name": "u"}]),
    );
}

#[test]
fn undecodable_result_shows_the_patch() {
    let rendered = |patch: &str| {
        let patched = strategic_merge_patch(facts(), b"{}", patch.as_bytes(), Strictness::Strict).expect("legal");
        patched.refuse("bad").message().to_owned()
    };
    assert_eq!(
        rendered(r#"{"nodeSelector":{"y":1.0,"$patch":"replace"},"finalizers":["a",null]}"#),
        r#" "" is invalid: patch: Invalid value: "map[finalizers:[a <nil>] nodeSelector:map[$patch:replace y:1]]": bad"#
    );
    assert_eq!(
        rendered(r#"{"finalizers":["a"],"$patch":"replace"}"#),
        r#" "" is invalid: patch: Invalid value: "map[finalizers:[a]]": bad"#
    );
    assert_eq!(
        rendered("null"),
        r#" "" is invalid: patch: Invalid value: "map[]": bad"#
    );
}

#[test]
fn points_of_a_patch_are_kept() {
    let patched = |document: &str, patch: &str| {
        let (document, patch) = (document.as_bytes(), patch.as_bytes());
        let patched = strategic_merge_patch(facts(), document, patch, Strictness::Strict).expect("legal");
        String::from_utf8(patched.document).expect("JSON is UTF-8")
    };
    assert_eq!(patched("{}", r#"{"args":[1.0]}"#), r#"{"args":[1.0]}"#);
    let stored = r#"{"args":[2.0]}"#;
    assert_eq!(
        patched(stored, r#"{"tolerations":[1.5]}"#),
        r#"{"args":[2],"tolerations":[1.5]}"#
    );
}

#[test]
fn directives_delete_and_replace() {
    check(
        &json!({"containers": [{"name": "web", "$patch": "delete"}]}),
        "/containers",
        &json!([{"name": "side", "image": "side:1"}]),
    );
    check(
        &json!({"containers": [{"name": "none", "$patch": "delete"}]}),
        "/containers/1/name",
        &json!("side"),
    );
    check(
        &json!({"containers": [{"name": "n"}, {"$patch": "replace"}]}),
        "/containers",
        &json!([{"name": "n"}]),
    );
    check(
        &json!({"containers": [{"$patch": "replace"}]}),
        "/containers",
        &json!([]),
    );
    check(
        &json!({"nodeSelector": {"z": "9", "$patch": "replace"}}),
        "/nodeSelector",
        &json!({"z": "9"}),
    );
    check(
        &json!({"nodeSelector": {"$patch": "delete"}}),
        "/nodeSelector",
        &json!({}),
    );
    check(&json!({"other": {"$patch": "explode"}}), "/other", &Value::Null);
    assert_eq!(merge(&spec(), &json!({"$patch": "delete"})), Ok(json!({})));
}

#[test]
fn senseless_directives_fail() {
    let failures = [
        (
            json!({"nodeSelector": {"y": 8, "$patch": "merge"}}),
            "unknown patch type: merge in map: map[$patch:merge y:8]",
        ),
        (
            json!({"nodeSelector": {"$patch": null}}),
            "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]",
        ),
        (
            json!({"nodeSelector": {"$patch": [{"b": "x", "a": null}, true]}}),
            "unknown patch type: [map[a:%!s(<nil>) b:x] %!s(bool=true)] in map: map[$patch:[map[a:<nil> b:x] true]]",
        ),
        (
            json!({"containers": [{"name": "web", "$patch": "merge"}]}),
            "merging lists cannot yet be specified in the patch",
        ),
        (
            json!({"containers": [{"image": "none:1"}]}),
            "map: map[image:none:1] does not contain declared merge key: name",
        ),
        (
            json!({"$setElementOrder/containers": "a", "containers": []}),
            "expected a []interface {}, but received a string",
        ),
        (
            json!({"$setElementOrder/containers": ["web"]}),
            "value for key 0 is not a map",
        ),
        (
            json!({"$setElementOrder/nothing": [{"name": "a"}]}),
            "unable to find api field in struct PodSpec for the json field \"nothing\"",
        ),
        (
            json!({"$setElementOrder/containers": [{"name": "web"}], "containers": [{"name": "side", "image": "b:2"}]}),
            "The order in patch list:\n[map[image:b:2 name:side]]\n doesn't match $setElementOrder list:\n[map[name:web]]\n",
        ),
    ];
    for (patch, message) in failures {
        assert_eq!(merge(&spec(), &patch), Err((500, message.to_owned())));
    }
}

#[test]
fn retain_keys_clears_the_others() {
    check(
        &json!({"choice": {"$retainKeys": ["type"], "type": "All"}}),
        "/choice",
        &json!({"type": "All"}),
    );
    let refused = Err((400, "invalid patch format of retainKeys".to_owned()));
    assert_eq!(
        merge(&spec(), &json!({"choice": {"$retainKeys": ["type"], "rolling": {}}})),
        refused
    );
    assert_eq!(merge(&spec(), &json!({"choice": {"$retainKeys": "type"}})), refused);
}

#[test]
fn plain_values_are_added_removed_and_ordered() {
    check(
        &json!({"finalizers": ["d"]}),
        "/finalizers",
        &json!(["d", "a", "b", "c"]),
    );
    check(&json!({"finalizers": ["a"]}), "/finalizers", &json!(["a", "b", "c"]));
    check(
        &json!({"$deleteFromPrimitiveList/finalizers": ["b", "z"]}),
        "/finalizers",
        &json!(["a", "c"]),
    );
    check(
        &json!({"$deleteFromPrimitiveList/finalizers": "b"}),
        "/finalizers",
        &json!(["a", "b", "c"]),
    );
    check(
        &json!({"$deleteFromPrimitiveList/finalizers": ["c"], "$setElementOrder/finalizers": ["b", "a"]}),
        "/finalizers",
        &json!(["b", "a"]),
    );
    check(&json!({"finalizers": null}), "/finalizers", &Value::Null);
}

#[test]
fn objects_among_deleted_values_are_merged() {
    let patch = json!({"$deleteFromPrimitiveList/containers": [{"name": "web", "image": "web:2"}]});
    check(&patch, "/containers/0/image", &json!("web:2"));
    let patch = json!({"$deleteFromPrimitiveList/tolerations": [{"name": "t"}]});
    let why = "cannot merge lists without merge key for struct".to_owned();
    assert_eq!(merge(&spec(), &patch), Err((500, why)));
}

#[test]
fn element_order_is_set() {
    let order = json!({"$setElementOrder/containers": [{"name": "side"}, {"name": "web"}]});
    check(&order, "/containers/0/name", &json!("side"));
    let patch = json!({
        "$setElementOrder/containers": [{"name": "web"}, {"name": "new"}],
        "containers": [{"name": "new", "image": "n:1"}],
    });
    let merged = merge(&spec(), &patch).expect("legal");
    let names: Vec<&str> = merged["containers"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(names, ["web", "new", "side"]);
}

#[test]
fn a_replacement_of_a_deleted_element_follows_unordered_ones() {
    let names = |patch: &Value| {
        let merged = merge(&spec(), patch).expect("legal");
        let list = merged["containers"].as_array().expect("a list").clone();
        list.iter()
            .filter_map(|one| one["name"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let rename = json!({
        "$setElementOrder/containers": [{"name": "new"}],
        "containers": [{"name": "web", "$patch": "delete"}, {"name": "new", "image": "n:1"}],
    });
    assert_eq!(names(&rename), ["side", "new"]);
    let addition = json!({
        "$setElementOrder/containers": [{"name": "new"}],
        "containers": [{"name": "new", "image": "n:1"}],
    });
    assert_eq!(names(&addition), ["new", "web", "side"]);
}

fn pairs() -> impl Strategy<Value = BTreeMap<String, String>> {
    prop::collection::btree_map("[a-e]", "[xyz]", 0..5)
}

fn env(pairs: &BTreeMap<String, String>) -> Value {
    pairs
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect()
}

proptest! {
    #[test]
    fn keyed_lists_behave_like_maps(old in pairs(), new in pairs(), gone in prop::collection::btree_set("[a-e]", 0..3)) {
        let mut patch = env(&new);
        let deleted = gone.iter().filter(|name| !new.contains_key(*name));
        for name in deleted.clone() {
            patch.as_array_mut().expect("a list").push(json!({"name": name, "$patch": "delete"}));
        }
        let document = json!({"containers": [{"name": "c", "env": env(&old)}]});
        let merged = merge(&document, &json!({"containers": [{"name": "c", "env": patch}]})).expect("legal");
        let found: BTreeMap<String, String> = merged["containers"][0]["env"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| (one["name"].as_str().unwrap_or("").to_owned(), one["value"].as_str().unwrap_or("").to_owned()))
            .collect();
        let mut expected = old;
        expected.extend(new.clone());
        for name in deleted {
            expected.remove(name);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_bytes_are_a_patch_or_refused(patch in prop::collection::vec(any::<u8>(), 0..40)) {
        let document = serde_json::to_vec(&spec()).expect("a tree is JSON");
        let refused = strategic_merge_patch(facts(), &document, &patch, Strictness::Lenient);
        prop_assert!(refused.is_ok() || refused.is_err_and(|error| error.code() >= 400));
    }

    #[test]
    fn any_mix_of_directives_is_a_patch_or_refused(text in r#"[\[\]{},:"a]|"name"|"\$patch"|"containers"|"delete""#) {
        let _ = merge(&spec(), &json!({"containers": [{"name": text.clone(), "$patch": text}], "finalizers": [1, "a"]}));
    }
}
