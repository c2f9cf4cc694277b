use serde_json::{Value, json};

use super::*;
use crate::apply::apply;
use crate::fields::{Tracking, Versions as _, track_write};
use crate::json::{self, Strictness};
use crate::object::Object;
use crate::scheme::Scheme;
use crate::selector::FieldQuery;
use crate::time::Time;
use crate::value;
use crate::value::View;

#[test]
fn keys_of_custom_kinds_begin_with_their_group() {
    let prefix = |group| {
        let facts = ResourceFacts {
            group,
            storage_name: "pods",
            ..ResourceFacts::CUSTOM
        };
        CustomKind::leak(facts, Arc::default(), Arc::new(Unchecked)).storage_prefix()
    };
    assert_eq!(prefix("example.com"), "/registry/example.com/pods/");
    // Whoever owns the group, these are not those of the core group.
    assert_eq!(prefix("metrics.k8s.io"), "/registry/metrics.k8s.io/pods/");
}

/// A kind in two versions.
fn kind(extra: &Value) -> [&'static ResourceFacts; 2] {
    let mut schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "replicas": {"type": "integer", "default": 1},
            "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                      "items": {"type": "object", "properties": {
                          "name": {"type": "string"}, "size": {"type": "integer"}}}},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    if let (Value::Object(schema), Value::Object(extra)) = (&mut schema, extra.clone()) {
        schema.extend(extra);
    }
    let facts = |version, api_version| {
        CustomKind::leak(
            ResourceFacts {
                group: "example.com",
                version,
                api_version,
                kind: "Widget",
                list_kind: "WidgetList",
                plural: "widgets",
                ..ResourceFacts::CUSTOM
            },
            Arc::new(Structural::compile(&schema)),
            Arc::new(Unchecked),
        )
    };
    let versions = [facts("v1", "example.com/v1"), facts("v1beta1", "example.com/v1beta1")];
    CustomKind::join(&versions, versions[0]);
    versions
}

fn read(kind: &'static ResourceFacts, document: &Value) -> (Box<dyn Object>, Vec<String>) {
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
        emptied: None,
    }
}

#[test]
fn objects_are_pruned_and_written_back() {
    let [kind, _] = kind(&Value::Null);
    let (object, findings) = read(
        kind,
        &json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "nope": 1}, "data": 1,
                "spec": {"replicas": 0, "tags": [], "other": {}}, "status": {"any": [null]}}),
    );
    assert_eq!(
        write(&*object),
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
               "spec": {"replicas": 0, "tags": []}, "status": {"any": [null]}})
    );
    assert_eq!(
        findings,
        [
            r#"unknown field "metadata.nope""#,
            r#"unknown field "data""#,
            r#"unknown field "spec.other""#
        ]
    );
}

#[test]
fn what_is_wrong_with_metadata_is_told_as_if_it_stood_alone() {
    let [kind, _] = kind(&Value::Null);
    let problem = |metadata: Value| {
        let document = json!({"metadata": metadata}).to_string();
        let read = decode(document.as_bytes(), &mut *kind.zero(), Strictness::Lenient);
        read.unwrap_err().to_string()
    };
    let at = "json: cannot unmarshal bool into Go";
    assert_eq!(
        problem(json!({"name": true})),
        format!("{at} struct field ObjectMeta.name of type string")
    );
    assert_eq!(problem(json!(true)), format!("{at} value of type v1.ObjectMeta"));
}

#[test]
fn what_is_not_known_is_kept_when_the_schema_says_so() {
    let [kind, _] = kind(&json!({"x-kubernetes-preserve-unknown-fields": true}));
    let document = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
                          "data": {"a": 1}, "zeta": null});
    let (object, findings) = read(kind, &document);
    assert_eq!(findings, [""; 0]);
    assert_eq!(write(&*object), document);
}

#[test]
fn what_is_kept_at_the_root_can_be_applied() {
    let versions = kind(&json!({"x-kubernetes-preserve-unknown-fields": true}));
    let [v1, v1beta1] = versions;
    for before in versions {
        let document = json!({"apiVersion": before.api_version, "kind": "Widget",
                              "metadata": {"name": "w", "uid": "u"}, "more": {"a": 1}, "list": [1]});
        let (mut live, _) = read(before, &document);
        track_write(None, &mut *live, &write_by("a"), &Scheme::new()).expect("fields");
        let live = crate::conversion::convert(&*live, v1);
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
        crate::defaulting::set_defaults(&mut *object);
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
fn fields_that_stand_twice_are_noticed_at_any_depth() {
    let [kind, _] = kind(&Value::Null);
    for (text, expected) in [
        (
            r#"{"metadata":{"name":"w"},"spec":{"replicas":1,"replicas":2}}"#,
            &[r#"duplicate field "spec.replicas""#][..],
        ),
        (
            r#"{"status":{"list":[{"a":1},{"b":{"c":1,"c":1}}]},"status":{},"metadata":{"labels":{"a":"1","a":"2"}}}"#,
            &[
                r#"duplicate field "status.list[1].b.c""#,
                r#"duplicate field "status""#,
                r#"duplicate field "metadata.labels.a""#,
            ],
        ),
        (
            r#"{"nope":{"a":1,"a":2},"nope":1,"metadata":{"zip":[{"a":1,"a":2}],"managedFields":[{"fieldsV1":{"f:a":{},"f:a":{}}}]}}"#,
            &[
                r#"duplicate field "nope.a""#,
                r#"duplicate field "nope""#,
                r#"duplicate field "metadata.zip[0].a""#,
                r#"duplicate field "metadata.managedFields[0].fieldsV1.f:a""#,
                r#"unknown field "metadata.zip""#,
                r#"unknown field "nope""#,
            ],
        ),
    ] {
        let mut object = kind.zero();
        let findings = decode(text.as_bytes(), &mut *object, Strictness::Strict).expect("a document");
        assert_eq!(findings.messages(), expected, "{text}");
    }
}

#[test]
fn the_last_of_what_stands_twice_wins_as_a_whole() {
    let [kind, _] = kind(&Value::Null);
    let mut object = kind.zero();
    let text = r#"{"metadata":{"name":"w","labels":{"a":"1"}},"spec":{"replicas":1},"metadata":{"name":"v","labels":{"b":"2"},
                   "labels":{"c":"3"}},"spec":{"tags":[]}}"#;
    decode(text.as_bytes(), &mut *object, Strictness::Lenient).expect("a document");
    let written = write(&*object);
    assert_eq!(written["metadata"], json!({"name": "v", "labels": {"c": "3"}}));
    assert_eq!(written["spec"], json!({"tags": []}));
}

#[test]
fn a_document_reads_as_its_text_does() {
    let [kind, _] = kind(&json!({"x-kubernetes-preserve-unknown-fields": true}));
    for document in [
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "labels": {"a": "b"}},
               "spec": {"replicas": 1, "no": 2}, "status": {"x": [1.5, null, {"y": ""}]}, "more": {"z": []}}),
        json!({"metadata": {"name": 7}}),
        json!({"metadata": {"labels": {"a": []}}}),
        json!({"metadata": []}),
        json!([]),
    ] {
        let (mut of_text, mut of_document) = (kind.zero(), kind.zero());
        let text = decode(document.to_string().as_bytes(), &mut *of_text, Strictness::Lenient);
        let read = read_document(document.clone(), &mut *of_document);
        assert_eq!(read, text.map(drop), "{document}");
        assert_eq!(write(&*of_document), write(&*of_text), "{document}");
    }
}

#[test]
fn walks_find_their_way_in_trees() {
    let [kind, _] = kind(&Value::Null);
    let (mut object, _) = read(kind, &json!({"metadata": {"name": "w"}}));
    assert!(value::get_at(&*object, "spec.replicas").is_none());
    crate::defaulting::set_defaults(&mut *object);
    assert!(value::get_at(&*object, "spec.replicas").is_none());
    assert!(value::change_at(&mut *object, "spec.replicas", &mut |value| {
        value::copy(&7_i32, value);
    }));
    let replicas = value::get_at(&*object, "spec.replicas").expect("just set").view();
    assert!(matches!(replicas, View::Int(7)));
    let (mut other, _) = read(kind, &json!({"metadata": {"name": "w"}, "spec": {}}));
    crate::defaulting::set_defaults(&mut *other);
    assert!(value::copy_field("spec", &*object, &mut *other));
    assert_eq!(write(&*other)["spec"], json!({"replicas": 7}));
}

#[test]
fn versions_differ_in_name_only() {
    let [v1, v1beta1] = kind(&Value::Null);
    let (object, _) = read(v1, &json!({"metadata": {"name": "w"}, "spec": {"replicas": 3}}));
    let other = Scheme::new()
        .convert(&*object, "example.com/v1beta1")
        .expect("a conversion")
        .expect("a version");
    assert_eq!(
        write(&*other),
        json!({"apiVersion": "example.com/v1beta1", "kind": "Widget", "metadata": {"name": "w"},
               "spec": {"replicas": 3}})
    );
    assert!(std::ptr::eq(v1beta1.hub(), v1));
    let gone = Scheme::new().convert(&*object, "example.com/v2").err();
    let why = gone.map(|error| error.message().to_owned());
    let expected = "request to convert CR to an invalid group/version: example.com/v2";
    assert_eq!(why.as_deref(), Some(expected));
}

#[test]
fn selectors_take_names_places_and_what_is_declared() {
    let [kind, _] = kind(&Value::Null);
    let refusal = |selector: &str| {
        FieldQuery::parse_for(selector, kind)
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(refusal("metadata.name=a,metadata.namespace=b"), None);
    let expected = "field label not supported: spec.replicas";
    assert_eq!(refusal("spec.replicas=3").as_deref(), Some(expected));
}

#[test]
fn lists_are_applied_as_the_schema_says() {
    let [kind, _] = kind(&Value::Null);
    let applied = |live: &dyn Object, manager, spec: Value| {
        let document =
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
        let outcome = apply(live, &document, &write_by(manager), false, &Scheme::new()).expect("no conflict");
        let (mut object, _) = read(kind, &outcome.document);
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
    assert!(value::change_at(&mut *live, "spec.replicas", &mut |value| value::copy(
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
fn finalizers_need_no_domain_but_should_have_one() {
    let [kind, _] = kind(&Value::Null);
    let object = |finalizers: &[&str]| {
        let metadata = json!({"name": "w", "namespace": "n", "finalizers": finalizers});
        read(kind, &json!({"metadata": metadata})).0
    };
    let (old, new) = (
        object(&["a"]),
        object(&["a", "held", "parts.example.com", "example.com/held"]),
    );
    assert_eq!(crate::validation::check_create(&*new).joined(), None);
    let warning = "metadata.finalizers: \"parts.example.com\": prefer a domain-qualified finalizer name including a path (/) to \
                   avoid accidental conflicts with other finalizer writers";
    let without_domain = "metadata.finalizers: \"held\": prefer a domain-qualified finalizer name to avoid accidental conflicts with \
                          other finalizer writers";
    assert_eq!((kind.rules.warnings)(&*new, Some(&*old)), [without_domain, warning]);
    assert_eq!((kind.rules.warnings)(&*new, Some(&*new)), [""; 0]);
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
    let (object, _) = read(kind, &json!({"metadata": {"name": "w"}, "spec": null, "data": null}));
    let expected = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": null});
    assert_eq!(write(&*object), expected);
    let mut stored = kind.zero();
    decode_stored(&json::to_vec(&*object), &mut *stored).expect("an object");
    assert_eq!(write(&*stored), expected, "as it was stored");
    let mut created = object.boxed();
    track_write(None, &mut *created, &write_by("a"), &Scheme::new()).expect("fields");
    assert_eq!(
        write(&*created)["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:spec": {}})
    );
    assert!(value::copy_field("spec", &*kind.zero(), &mut *created));
    assert_eq!(write(&*created).get("spec"), None, "nothing is copied as nothing");
}

#[test]
fn what_is_applied_keeps_a_null_for_whoever_checks_it() {
    let [kind, _] = kind(&Value::Null);
    let document = json!({"metadata": {"name": "w"}, "spec": {"replicas": null, "tags": null}, "status": null});
    let mut applied = kind.zero();
    read_applied(document.clone(), &mut *applied).expect("an object");
    assert_eq!(write(&*applied)["spec"], document["spec"]);
    assert_eq!(write(&*applied).get("status"), Some(&Value::Null));
    crate::defaulting::set_defaults(&mut *applied);
    assert_eq!(write(&*applied)["spec"], json!({"replicas": 1, "tags": null}));
    let custom = applied.as_custom_mut().expect("a custom object");
    custom.prune();
    assert_eq!(write(&*applied)["spec"], json!({"replicas": 1}));
}

#[test]
fn managers_of_other_versions_are_not_known_when_those_lack_fields() {
    let schema_of = |extra: &Value| {
        let [kind, _] = kind(extra);
        Arc::new(kind.custom.expect("a custom kind").schema().clone())
    };
    let version = |version, api_version, schema| {
        let facts = ResourceFacts {
            group: "example.com",
            version,
            api_version,
            kind: "Widget",
            ..ResourceFacts::CUSTOM
        };
        CustomKind::leak(facts, schema, Arc::new(Unchecked))
    };
    let poor = version("v1", "example.com/v1", schema_of(&Value::Null));
    let rich = schema_of(&json!({"x-kubernetes-preserve-unknown-fields": true}));
    let rich = version("v2", "example.com/v2", rich);
    CustomKind::join(&[poor, rich], poor);
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
