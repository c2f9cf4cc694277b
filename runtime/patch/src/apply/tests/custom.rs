//! Objects of custom kinds: applies to them, and their managers.

use std::borrow::Cow;
use std::sync::Arc;

use planesmith_dynamic::custom::{CustomKind, CustomVersion, Unchecked, decode, decode_stored, read_applied};
use planesmith_dynamic::testing::kind;
use planesmith_machinery::copy;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, ResourceTable, SubresourceFacts, SubresourceKind};
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::value;
use planesmith_wire::time::Time;
use serde_json::{Value, json};

use super::super::apply;
use crate::managers::{Tracking, Versions as _, reset_fields, track_write};

fn read(kind: &ResourceFacts, document: &Value) -> (Box<dyn Object>, Vec<String>) {
    let mut object = kind.zero();
    let findings = decode(document.to_string().as_bytes(), &mut *object, Strictness::Strict).expect("a document");
    (object, findings.messages().to_vec())
}

fn write(object: &dyn Object) -> Value {
    json::to_value(object)
}

fn write_by(manager: &str) -> Tracking<'_> {
    Tracking {
        manager,
        subresource: "",
        now: Time::from_second(1),
        resets: &[],
        sent_empty: None,
    }
}

#[test]
fn preserved_fields_at_the_root_can_be_applied() {
    let versions = kind(&json!({"x-kubernetes-preserve-unknown-fields": true}));
    let [v1, v1beta1] = versions.clone();
    for before in versions {
        let document = json!({"apiVersion": &before.api_version, "kind": "Widget",
                              "metadata": {"name": "w", "uid": "u"}, "more": {"a": 1}, "list": [1]});
        let (mut live, _) = read(&before, &document);
        track_write(None, &mut *live, &write_by("a"), &Scheme::new()).expect("fields");
        let live = planesmith_machinery::conversion::convert(&*live, &v1);
        let applied = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
                             "more": {"b": 2}, "other": null});
        let outcome = apply(&*live, &applied, &write_by("b"), false, &Scheme::new()).expect("no conflict");
        assert_eq!(outcome.document["more"], json!({"a": 1, "b": 2}));
        let mut object = v1.zero();
        let mut document = outcome.document;
        document["metadata"]
            .as_object_mut()
            .expect("an object")
            .remove("managedFields");
        read_applied(document, &mut *object).expect("an object");
        object.meta_mut().managed_fields = outcome.managed_fields;
        planesmith_machinery::defaulting::set_defaults(
            &mut *object,
            planesmith_machinery::environment::Environment::defaults(),
        );
        let tracked = track_write(Some(&*live), &mut *object, &write_by("c"), &Scheme::new());
        tracked.expect("fields");
        let managers: Vec<&str> = object
            .meta()
            .managed_fields
            .iter()
            .map(|entry| entry.manager.as_str())
            .collect();
        assert_eq!(managers[..2], ["b", "a"], "{}", v1beta1.api_version);
    }
}

#[test]
fn versions_differ_in_name_only() {
    let [v1, v1beta1] = kind(&Value::Null);
    let (object, _) = read(&v1, &json!({"metadata": {"name": "w"}, "spec": {"replicas": 3}}));
    let other = Scheme::new()
        .convert(&*object, "example.com/v1beta1")
        .expect("a conversion")
        .expect("a version");
    assert_eq!(
        write(&*other),
        json!({"apiVersion": "example.com/v1beta1", "kind": "Widget", "metadata": {"name": "w"},
               "spec": {"replicas": 3}})
    );
    assert_eq!(v1beta1.hub(), v1);
    let gone = Scheme::new().convert(&*object, "example.com/v2").err();
    let why = gone.map(|error| error.message().to_owned());
    let expected = "request to convert CR to an invalid group/version: example.com/v2";
    assert_eq!(why.as_deref(), Some(expected));
}

#[test]
fn lists_are_applied_as_the_schema_says() {
    let [kind, _] = kind(&Value::Null);
    let applied = |live: &dyn Object, manager, spec: Value| {
        let document =
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
        let outcome = apply(live, &document, &write_by(manager), false, &Scheme::new()).expect("no conflict");
        let (mut object, _) = read(&kind, &outcome.document);
        object.meta_mut().managed_fields = outcome.managed_fields;
        object.meta_mut().uid = "u".to_owned();
        object
    };
    let live = applied(
        &*kind.zero(),
        "a",
        json!({"parts": [{"name": "p", "size": 1}], "tags": ["x"]}),
    );
    let mut live = applied(&*live, "b", json!({"parts": [{"name": "q"}], "tags": ["y"]}));
    assert_eq!(
        write(&*live)["spec"],
        json!({"parts": [{"name": "p", "size": 1}, {"name": "q"}], "tags": ["x", "y"]})
    );
    let before = live.boxed();
    assert!(value::change_at(&mut *live, "spec.replicas", &mut |value| copy::copy(
        &2_i32, value
    )));
    track_write(Some(&*before), &mut *live, &write_by("hand"), &Scheme::new()).expect("no conversion");
    let managers: Vec<String> = live
        .meta()
        .managed_fields
        .iter()
        .map(|entry| entry.manager.clone())
        .collect();
    assert_eq!(managers, ["a", "b", "hand"]);
    let last = live.meta().managed_fields[2]
        .fields_v1
        .as_ref()
        .map(|fields| fields.as_str().to_owned());
    assert_eq!(last.as_deref(), Some(r#"{"f:spec":{"f:replicas":{}}}"#));
}

#[test]
fn objects_can_be_applied_to_however_deep_they_are() {
    let [v1, _] = kind(&Value::Null);
    let deep = |levels: usize| {
        let value = format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        format!(r#"{{"metadata":{{"name":"w"}},"spec":{{"replicas":1}},"status":{value}}}"#)
    };
    let mut object = v1.zero();
    decode(deep(511).as_bytes(), &mut *object, Strictness::Lenient).expect("as deep as it gets");
    let applied =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"tags": ["a"]}});
    let outcome = apply(&*object, &applied, &write_by("a"), false, &Scheme::new()).expect("no conflict");
    assert_eq!(outcome.document["spec"], json!({"replicas": 1, "tags": ["a"]}));
    // All managers are still there when the names of the fields are read again.
    let mut again = v1.zero();
    json::from_value(&outcome.document, &mut *again, Strictness::Lenient).expect("no deeper");
    again.meta_mut().managed_fields = outcome.managed_fields;
    again.meta_mut().uid = "u".to_owned();
    let mut stored = v1.zero();
    decode_stored(&json::to_vec(&*again), &mut *stored).expect("what was written");
    let before = stored.boxed();
    stored.meta_mut().labels.insert("x".to_owned(), "y".to_owned());
    track_write(Some(&*before), &mut *stored, &write_by("hand"), &Scheme::new()).expect("no conversion");
    assert_eq!(
        stored.meta().managed_fields.len(),
        before.meta().managed_fields.len() + 1
    );
    assert!(decode(deep(512).as_bytes(), &mut *v1.zero(), Strictness::Lenient).is_err());
}

#[test]
fn null_is_kept_where_it_is_a_value() {
    let [kind, _] = kind(&json!({"properties": {
        "spec": {"type": "object", "nullable": true, "properties": {"a": {"type": "string"}}},
        "data": {"type": "string"}}}));
    let (object, _) = read(&kind, &json!({"metadata": {"name": "w"}, "spec": null, "data": null}));
    let expected = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": null});
    assert_eq!(write(&*object), expected);
    let mut stored = kind.zero();
    decode_stored(&json::to_vec(&*object), &mut *stored).expect("an object");
    let generated = json!({"name": "w", "generation": 1});
    let expected = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": generated, "spec": null});
    assert_eq!(write(&*stored), expected, "as it was stored, with the first generation");
    let mut created = object.boxed();
    track_write(None, &mut *created, &write_by("a"), &Scheme::new()).expect("fields");
    assert_eq!(
        write(&*created)["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:spec": {}})
    );
    assert!(copy::copy_field("spec", &*kind.zero(), &mut *created));
    assert_eq!(write(&*created).get("spec"), None, "nothing is copied as nothing");
}

#[test]
fn managers_of_other_versions_are_not_known_when_those_lack_fields() {
    let schema_of = |extra: &Value| {
        let [kind, _] = kind(extra);
        Arc::clone(CustomKind::of(&kind).expect("a custom kind").schema())
    };
    let version = |version, api_version, schema| CustomVersion {
        table: ResourceTable {
            group: Cow::Borrowed("example.com"),
            version: Cow::Borrowed(version),
            api_version: Cow::Borrowed(api_version),
            kind: Cow::Borrowed("Widget"),
            ..CustomKind::FACTS
        },
        schema,
        checks: Arc::new(Unchecked),
    };
    let poor = version("v1", "example.com/v1", schema_of(&Value::Null));
    let rich = schema_of(&json!({"x-kubernetes-preserve-unknown-fields": true}));
    let rich = version("v2", "example.com/v2", rich);
    let versions = CustomKind::define(vec![poor, rich], 0, None);
    let [poor, rich] = &versions[..] else {
        panic!("two versions")
    };
    let (mut live, _) = read(
        poor,
        &json!({"metadata": {"name": "w", "uid": "u"}, "spec": {"replicas": 1}}),
    );
    track_write(None, &mut *live, &write_by("a"), &Scheme::new()).expect("fields");
    let mut document = write(&*live);
    document["apiVersion"] = "example.com/v2".into();
    let (live, _) = read(rich, &document);
    let applied = json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "w"}, "more": 1});
    let refused = apply(&*live, &applied, &write_by("b"), false, &Scheme::new()).expect_err("a failure");
    assert_eq!(
        refused.to_api_error("").message(),
        "failed to convert new object: .more: field not declared in schema"
    );
    document["more"] = 1.into();
    let (mut new, _) = read(rich, &document);
    let error = track_write(Some(&*live), &mut *new, &write_by("b"), &Scheme::new()).expect_err("a failure");
    assert_eq!(error.message(), ".more: field not declared in schema");
    assert_eq!(new.meta().managed_fields, []);
}

/// Two versions of a kind with a status subresource.
fn versions_with_status() -> Vec<ResourceFacts> {
    let [kind, _] = kind(&Value::Null);
    let schema = CustomKind::of(&kind).expect("a custom kind").schema();
    let version = |version: &'static str, api_version: &'static str| CustomVersion {
        table: ResourceTable {
            group: Cow::Borrowed("example.com"),
            version: Cow::Borrowed(version),
            api_version: Cow::Borrowed(api_version),
            kind: Cow::Borrowed("Widget"),
            subresources: Cow::Borrowed(&[SubresourceFacts {
                name: "status",
                kind: SubresourceKind::Status,
            }]),
            ..CustomKind::FACTS
        },
        schema: Arc::clone(schema),
        checks: Arc::new(Unchecked),
    };
    let versions = vec![version("v1", "example.com/v1"), version("v2", "example.com/v2")];
    CustomKind::define(versions, 0, None)
}

#[test]
fn a_manager_of_the_status_in_another_version_has_conflicts_with_the_object() {
    let versions = versions_with_status();
    let document = |version: &ResourceFacts, phase: &str| json!({"apiVersion": version.api_version, "kind": "Widget", "metadata": {"name": "w"}, "status": {"phase": phase}});
    let mut of_status = write_by("s");
    of_status.subresource = "status";
    let (v1, v2) = (&versions[0], &versions[1]);
    for (version, is_other) in [(v1, false), (v2, true)] {
        let applied = apply(
            &*version.zero(),
            &document(version, "A"),
            &of_status,
            false,
            &Scheme::new(),
        );
        let applied = applied.expect("no conflict");
        let (mut live, mut new) = (read(v1, &document(v1, "A")).0, read(v1, &document(v1, "B")).0);
        for object in [&mut live, &mut new] {
            object.meta_mut().uid = "u".to_owned();
            object.meta_mut().managed_fields.clone_from(&applied.managed_fields);
        }
        let refused = apply(&*live, &document(v1, "B"), &write_by("b"), false, &Scheme::new()).err();
        let refused = refused.map(|error| error.to_api_error("w").message().to_owned());
        let conflict =
            "Apply failed with 1 conflict: conflict with \"s\" with subresource \"status\": .status.phase".to_owned();
        assert_eq!(refused, is_other.then_some(conflict));
        track_write(Some(&*live), &mut *new, &write_by("b"), &Scheme::new()).expect("fields");
        let is_manager = new.meta().managed_fields.iter().any(|entry| entry.manager == "s");
        assert_eq!(is_manager, !is_other);
    }
}

#[test]
fn writers_of_a_status_own_no_other_field_in_their_version_alone() {
    let versions = versions_with_status();
    let (v1, v2) = (&versions[0], &versions[1]);
    assert!(!reset_fields(v1, "status", v1).is_empty());
    assert!(reset_fields(v2, "status", v1).is_empty());
}
