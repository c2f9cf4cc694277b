mod configuration;
mod custom;
mod custom_schema;
mod kubectl;
mod laws;
mod scaled;
mod type_mismatches;
mod versions;

use std::collections::BTreeMap;

use planesmith_machinery::json::Strictness;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::{Resource, Struct};
use planesmith_wire::int_or_string::IntOrString;
use planesmith_wire::quantity::Quantity;
use planesmith_wire::time::Time;
use serde_json::{Value, json};

use super::*;
use crate::managers::{Tracking, Versions, track_write};

/// An element that has a name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Part {
    /// Its name.
    #[field(keep)]
    name: String,
    /// Its protocol.
    #[field(default = "TCP")]
    protocol: String,
    /// A size.
    size: i32,
    /// True if it is off.
    off: bool,
}

/// Every way in which values are identified.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    /// Told apart by name and protocol.
    #[field(list_type = map, list_map_keys("name", "protocol"))]
    parts: Vec<Part>,
    /// Told apart by value.
    #[field(list_type = set)]
    tags: Vec<String>,
    /// One value.
    #[field(list_type = atomic)]
    args: Vec<String>,
    /// Told apart by key.
    labels: BTreeMap<String, String>,
    /// One value.
    #[field(atomic)]
    selector: BTreeMap<String, String>,
    /// A number.
    replicas: Option<i32>,
    /// A switch.
    paused: bool,
    /// A name or a number.
    port: Option<IntOrString>,
    /// A quantity.
    size: Option<Quantity>,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct State {
    /// A phase.
    phase: String,
}

/// A kind.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Thing", status)]
struct Thing {
    /// Metadata.
    metadata: ObjectMeta,
    /// Content.
    spec: Spec,
    /// State.
    status: State,
}

/// No other versions.
struct OneVersion;

impl Versions for OneVersion {
    fn convert(&self, _: &dyn Object, _: &str) -> ApiResult<Option<Box<dyn Object>>> {
        Ok(None)
    }

    fn zero(&self, _: &dyn Object, _: &str) -> Option<Box<dyn Object>> {
        None
    }
}

fn document(spec: &Value) -> Value {
    json!({"apiVersion": "test.example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": spec})
}

fn by(manager: &str) -> Tracking<'_> {
    Tracking {
        manager,
        subresource: "",
        now: Time::from_second(100),
        resets: &[],
        sent_empty: None,
    }
}

fn run(live: &Thing, manager: &str, spec: &Value, force: bool) -> Result<Thing, ApplyError> {
    let applied = apply(live, &document(spec), &by(manager), force, &OneVersion)?;
    let mut thing = Thing::default();
    planesmith_machinery::json::from_value(&applied.document, &mut thing, Strictness::Lenient)
        .expect("a document of the kind");
    thing.metadata.managed_fields = applied.managed_fields;
    thing.metadata.uid = "u".to_owned();
    Ok(thing)
}

fn applied(live: &Thing, manager: &str, spec: &Value) -> Thing {
    run(live, manager, spec, false).expect("no conflict")
}

fn forced(live: &Thing, manager: &str, spec: &Value) -> Thing {
    run(live, manager, spec, true).expect("a force")
}

fn refused(live: &Thing, manager: &str, spec: &Value) -> String {
    let error = run(live, manager, spec, false).expect_err("a refusal");
    error.to_api_error("x").message().to_owned()
}

fn updated(live: &Thing, manager: &str, change: impl Fn(&mut Thing)) -> Thing {
    let mut new = live.clone();
    change(&mut new);
    track_write(Some(live), &mut new, &by(manager), &OneVersion).expect("no conversion");
    new
}

fn managers(thing: &Thing) -> Vec<String> {
    let entries = thing.metadata.managed_fields.iter();
    let entry = |entry: &ManagedFieldsEntry| {
        let fields = entry.fields_v1.as_ref().map_or("", |fields| fields.as_str());
        format!("{} {} {fields}", entry.manager, entry.operation)
    };
    entries.map(entry).collect()
}

fn spec_of(thing: &Thing) -> Value {
    planesmith_machinery::json::to_value(thing)["spec"].clone()
}

#[test]
fn fields_that_are_no_longer_applied_are_removed() {
    let live = applied(
        &Thing::default(),
        "a",
        &json!({"labels": {"x": "1", "y": "1"}, "replicas": 2}),
    );
    let live = applied(&live, "a", &json!({"labels": {"y": "1"}}));
    assert_eq!(spec_of(&live), json!({"labels": {"y": "1"}}));
    assert_eq!(managers(&live), [r#"a Apply {"f:spec":{"f:labels":{"f:y":{}}}}"#]);
}

#[test]
fn an_emptied_field_stays_if_it_is_managed_itself() {
    let live = updated(&Thing::default(), "a", |thing| {
        thing.spec.labels.insert("x".to_owned(), "1".to_owned());
    });
    let live = forced(&live, "b", &json!({"labels": {"x": "2"}}));
    let outcome = apply(&live, &document(&json!({})), &by("b"), true, &OneVersion).expect("a force");
    assert_eq!(outcome.document["spec"], json!({"labels": {}}));
}

#[test]
fn unmanaged_fields_stay() {
    let mut live = applied(&Thing::default(), "a", &json!({"replicas": 2, "labels": {"x": "1"}}));
    live.spec.args = vec!["set by a default".to_owned()];
    let live = applied(&live, "a", &json!({"labels": {"x": "1"}}));
    assert_eq!(
        spec_of(&live),
        json!({"args": ["set by a default"], "labels": {"x": "1"}})
    );
}

#[test]
fn fields_with_another_manager_stay() {
    let live = applied(&Thing::default(), "a", &json!({"tags": ["p", "q"], "replicas": 1}));
    let live = applied(&live, "b", &json!({"tags": ["q"], "replicas": 1}));
    let live = applied(&live, "a", &json!({}));
    assert_eq!(spec_of(&live), json!({"tags": ["q"], "replicas": 1}));
    let live = applied(&live, "b", &json!({}));
    assert_eq!(spec_of(&live), json!({}));
    assert_eq!(
        managers(&live),
        [r#"a Apply {"f:spec":{}}"#, r#"b Apply {"f:spec":{}}"#]
    );
}

#[test]
fn another_value_is_a_conflict() {
    let live = applied(&Thing::default(), "a", &json!({"replicas": 1, "args": ["x"]}));
    let live = updated(&live, "hand", |thing| thing.spec.paused = true);
    assert_eq!(
        refused(&live, "b", &json!({"replicas": 2})),
        "Apply failed with 1 conflict: conflict with \"a\": .spec.replicas"
    );
    assert_eq!(
        refused(&live, "b", &json!({"replicas": 2, "args": ["x", "y"], "paused": false})),
        "Apply failed with 3 conflicts: conflicts with \"a\":\n- .spec.args\n- .spec.replicas\n\
         conflicts with \"hand\" using test.example.com/v1:\n- .spec.paused"
    );
    let live = forced(&live, "b", &json!({"replicas": 2, "paused": false}));
    assert_eq!(
        managers(&live),
        [
            r#"a Apply {"f:spec":{"f:args":{}}}"#,
            r#"b Apply {"f:spec":{"f:paused":{},"f:replicas":{}}}"#,
        ]
    );
}

#[test]
fn conflicts_are_listed_by_the_json_of_their_managers() {
    let names = ["a", "a b", "a!", "a<", "aZ"];
    let live = names.iter().fold(Thing::default(), |live, name| {
        applied(&live, name, &json!({"replicas": 1}))
    });
    let message = refused(&live, "b", &json!({"replicas": 2}));
    let lines = message.lines().filter_map(|line| line.split('"').nth(1));
    assert_eq!(lines.collect::<Vec<_>>(), ["a b", "a!", "a", "aZ", "a<"]);
}

#[test]
fn a_switch_that_is_said_to_be_off_is_managed() {
    let live = applied(&Thing::default(), "a", &json!({"paused": false}));
    assert_eq!(managers(&live), [r#"a Apply {"f:spec":{"f:paused":{}}}"#]);
}

#[test]
fn keys_have_defaults() {
    let live = applied(&Thing::default(), "a", &json!({"parts": [{"name": "p", "size": 1}]}));
    let mut defaulted = live.clone();
    defaulted.spec.parts[0].protocol = "TCP".to_owned();
    let live = applied(
        &defaulted,
        "b",
        &json!({"parts": [{"name": "p", "protocol": "TCP", "off": false}, {"name": "p", "protocol": "UDP"}]}),
    );
    assert_eq!(live.spec.parts.len(), 2);
    assert_eq!(
        managers(&live)[0],
        r#"a Apply {"f:spec":{"f:parts":{"k:{\"name\":\"p\",\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:size":{}}}}}"#
    );
}

/// As in kube-apiserver, where validation refuses the second outcome of most kinds.
#[test]
fn a_key_said_as_null_is_no_default() {
    let spec = json!({"parts": [{"name": "p", "protocol": null}]});
    let once = applied(&Thing::default(), "a", &spec);
    let entry = r#"a Apply {"f:spec":{"f:parts":{"k:{\"name\":\"p\",\"protocol\":null}":{".":{},"f:name":{},"f:protocol":{}}}}}"#;
    assert_eq!(managers(&once), [entry]);
    assert_eq!(spec_of(&once), json!({"parts": [{"name": "p"}]}));
    let twice = applied(&once, "a", &spec);
    assert_eq!(managers(&twice), [entry]);
    assert_eq!(spec_of(&twice), json!({"parts": [{"name": "p"}, {"name": "p"}]}));
}

#[test]
fn elements_keep_their_place_as_far_as_the_applied_order_allows() {
    let names = |thing: &Thing| thing.spec.tags.join("");
    let live = applied(&Thing::default(), "a", &json!({"tags": ["c", "b"]}));
    let live = applied(&live, "b", &json!({"tags": ["a", "b"]}));
    assert_eq!(names(&live), "cab");
    let live = applied(&live, "b", &json!({"tags": ["b", "a", "z"]}));
    assert_eq!(names(&live), "cbaz");
    let live = applied(&live, "a", &json!({"tags": ["b", "c"]}));
    assert_eq!(names(&live), "bazc");
}

#[test]
fn an_atomic_value_is_taken_as_a_whole() {
    let live = applied(
        &Thing::default(),
        "a",
        &json!({"selector": {"x": "1", "y": "2"}, "args": ["p", "q"]}),
    );
    assert_eq!(managers(&live), [r#"a Apply {"f:spec":{"f:args":{},"f:selector":{}}}"#]);
    let live = applied(&live, "a", &json!({"selector": {"z": "3"}, "args": ["r"]}));
    assert_eq!(spec_of(&live), json!({"selector": {"z": "3"}, "args": ["r"]}));
}

#[test]
fn status_is_not_managed_through_the_object() {
    let mut document = document(&json!({"replicas": 1}));
    document["status"] = json!({"phase": "Done"});
    let outcome = apply(&Thing::default(), &document, &by("a"), false, &OneVersion).expect("no conflict");
    let fields = outcome.managed_fields[0]
        .fields_v1
        .as_ref()
        .map(|fields| fields.as_str().to_owned());
    assert_eq!(fields.as_deref(), Some(r#"{"f:spec":{"f:replicas":{}}}"#));
}

#[test]
fn fields_from_before_the_first_apply_have_a_manager() {
    let mut live = Thing::default();
    live.metadata.uid = "u".to_owned();
    live.spec.replicas = Some(1);
    let message = refused(&live, "a", &json!({"replicas": 2}));
    assert!(
        message.contains("\"before-first-apply\" using test.example.com/v1"),
        "{message}"
    );
}

#[test]
fn documents_that_do_not_fit_are_refused() {
    for (spec, why) in [
        (json!({"nope": 1}), ".spec.nope: field not declared in schema"),
        (
            json!({"replicas": "1"}),
            ".spec.replicas: expected numeric (int or float), got string",
        ),
        (json!({"paused": 1}), ".spec.paused: expected boolean, got &{1}"),
        (
            json!({"labels": {"a": 1}}),
            ".spec.labels.a: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (json!({"labels": ["a"]}), ".spec.labels: expected map, got &{[a]}"),
        (json!({"tags": "a"}), ".spec.tags: expected list, got &{a}"),
        (
            json!({"size": {"a": 1}}),
            ".spec.size: expected any scalar, got &{map[a:1]}",
        ),
        (
            json!({"tags": ["a", "a"]}),
            ".spec.tags: duplicate entries for key [=\"a\"]",
        ),
        (
            json!({"parts": [{"nope": 1}]}),
            ".spec.parts[name=\"\",protocol=\"TCP\"].nope: field not declared in schema",
        ),
        (
            json!({"parts": [null]}),
            ".spec.parts: element 0: associative list with keys may not have a null element",
        ),
        (
            json!({"parts": [1]}),
            ".spec.parts: element 0: associative list with keys may not have non-map elements",
        ),
        (
            json!({"parts": [{"name": "b"}, {"name": "a"}, {"name": "b", "nope": 1}, {"name": "a"}, 1, null]}),
            "errors:\n  .spec.parts: duplicate entries for key [name=\"b\",protocol=\"TCP\"]\n  \
             .spec.parts[name=\"b\",protocol=\"TCP\"].nope: field not declared in schema\n  \
             .spec.parts: duplicate entries for key [name=\"a\",protocol=\"TCP\"]\n  \
             .spec.parts: element 4: associative list with keys may not have non-map elements",
        ),
        (
            json!({"labels": 1, "nope": 1, "none": 1, "paused": 1}),
            "errors:\n  .spec.labels: expected map, got &{1}\n  .spec.none: field not declared in schema",
        ),
    ] {
        assert_eq!(
            run(&Thing::default(), "a", &spec, true),
            Err(ApplyError::TypeMismatch(why.to_owned()))
        );
    }
}

#[test]
fn the_type_of_a_union_is_left_to_the_conversion() {
    for port in [json!("http"), json!(1), json!({"a": 1}), json!([1])] {
        let document = document(&json!({"port": port}));
        let applied = apply(&Thing::default(), &document, &by("a"), false, &OneVersion).expect("no mismatch");
        assert_eq!(applied.document["spec"]["port"], port);
    }
}

#[test]
fn large_numbers_are_told_apart() {
    assert!(!crate::documents::same(
        &json!(9_007_199_254_740_992_i64),
        &json!(9_007_199_254_740_993_i64)
    ));
    assert!(crate::documents::same(&json!(2), &json!(2.0)));
}

#[test]
fn managers_of_parts_manage_all_of_what_stands_as_a_whole_by_now() {
    use std::sync::Arc;

    use crate::documents::KindSchema;
    use crate::managers::{Entries, reconcile};
    use planesmith_dynamic::structural::Structural;
    use planesmith_machinery::meta::ManagedFieldsEntry;
    use planesmith_wire::raw::FieldsV1;

    let schema = |extra: &Value| {
        let mut spec = json!({"type": "object", "properties": {
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}}});
        for (name, changed) in extra.as_object().into_iter().flatten() {
            for (key, value) in changed.as_object().into_iter().flatten() {
                spec["properties"][name][key] = value.clone();
            }
        }
        Arc::new(Structural::compile(
            &json!({"type": "object", "properties": {"spec": spec}}),
        ))
    };
    let reconciled = |extra: &Value| {
        let entry = ManagedFieldsEntry {
            manager: "a".to_owned(),
            operation: "Apply".to_owned(),
            api_version: "x/v1".to_owned(),
            fields_type: "FieldsV1".to_owned(),
            fields_v1: Some(
                FieldsV1::new(
                    br#"{"f:spec":{"f:list":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}},"f:map":{"f:k":{}},"f:unknown":{"f:k":{}}}}"#,
                )
                .expect("JSON"),
            ),
            ..ManagedFieldsEntry::default()
        };
        let entries = [entry];
        let mut entries = Entries::read(&entries).expect("entries");
        reconcile(&mut entries, &|version| {
            (version == "x/v1").then(|| KindSchema::Custom(schema(extra)))
        });
        let written = entries.write();
        written[0].fields_v1.as_ref().expect("fields").as_str().to_owned()
    };
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    let list = r#""f:list":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}}"#;
    let unknown = r#""f:unknown":{"f:k":{}}"#;
    assert_eq!(
        reconciled(&json!({"list": keyed})),
        format!(r#"{{"f:spec":{{{list},"f:map":{{"f:k":{{}}}},{unknown}}}}}"#)
    );
    assert_eq!(
        reconciled(&json!({"list": keyed, "map": {"x-kubernetes-map-type": "atomic"}})),
        format!(r#"{{"f:spec":{{{list},"f:map":{{}},{unknown}}}}}"#)
    );
    assert_eq!(
        reconciled(&json!({})),
        format!(r#"{{"f:spec":{{"f:list":{{}},"f:map":{{"f:k":{{}}}},{unknown}}}}}"#)
    );
}
