use planesmith_machinery::copy;
use planesmith_machinery::defaulting::set_defaults;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::json_path::LazyPath;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{CellSource, Column};
use planesmith_machinery::selector::FieldQuery;
use planesmith_machinery::strategy::Context;
use planesmith_machinery::table::{Cell, cells};
use planesmith_machinery::validation::check_create;
use planesmith_machinery::value::{self, View};
use serde_json::{Value, json};

use super::*;
use crate::testing::kind;

mod written;

fn read(kind: &ResourceFacts, document: &Value) -> (Box<dyn Object>, Vec<String>) {
    let mut object = kind.zero();
    let findings = decode(document.to_string().as_bytes(), &mut *object, Strictness::Strict).expect("a document");
    (object, findings.messages().to_vec())
}

fn write(object: &dyn Object) -> Value {
    json::to_value(object)
}

#[test]
fn objects_are_pruned_and_written_back() {
    let [kind, _] = kind(&Value::Null);
    let (object, findings) = read(
        &kind,
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
fn errors_in_metadata_are_those_of_metadata_alone() {
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
fn a_stored_object_loses_metadata_of_the_wrong_type_and_gets_a_generation() {
    let [kind, _] = kind(&Value::Null);
    for (stored, expected) in [
        (json!({"name": "w"}), json!({"generation": 1, "name": "w"})),
        (
            json!({"name": "w", "generation": null}),
            json!({"generation": 1, "name": "w"}),
        ),
        (
            json!({"name": "w", "generation": 7}),
            json!({"generation": 7, "name": "w"}),
        ),
        (
            json!({"name": "w", "annotations": {"a": "text", "b": 42}, "labels": {"a": "not a label"}, "unknown": 42}),
            json!({"generation": 1, "labels": {"a": "not a label"}, "name": "w"}),
        ),
        (
            json!({"name": "w", "finalizers": "x", "ownerReferences": [1], "creationTimestamp": 3, "uid": {}}),
            json!({"generation": 1, "name": "w"}),
        ),
        (json!("text"), json!({"generation": 1})),
    ] {
        let document = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": stored,
                              "spec": {"replicas": 2, "other": 1}});
        let mut object = kind.zero();
        decode_stored(document.to_string().as_bytes(), &mut *object).expect("any stored object can be read");
        assert_eq!(write(&*object)["metadata"], expected);
        assert_eq!(write(&*object)["spec"]["replicas"], 2);
    }
}

#[test]
fn unknown_fields_are_preserved_if_the_schema_says_so() {
    let [kind, _] = kind(&json!({"x-kubernetes-preserve-unknown-fields": true}));
    let document = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
                          "data": {"a": 1}, "zeta": null});
    let (object, findings) = read(&kind, &document);
    assert_eq!(findings, [""; 0]);
    assert_eq!(write(&*object), document);
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
fn decoding_into_an_object_again_duplicates_nothing() {
    let [kind, _] = kind(&Value::Null);
    let mut object = kind.zero();
    let text = br#"{"metadata":{"name":"w"},"spec":{"replicas":1},"status":{}}"#;
    for _ in 0..2 {
        let findings = decode(text, &mut *object, Strictness::Strict).expect("a document");
        assert!(findings.is_empty(), "{:?}", findings.messages());
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
    let (mut object, _) = read(&kind, &json!({"metadata": {"name": "w"}}));
    assert!(value::get_at(&*object, "spec.replicas").is_none());
    set_defaults(&mut *object, Environment::defaults());
    assert!(value::get_at(&*object, "spec.replicas").is_none());
    assert!(value::change_at(&mut *object, "spec.replicas", &mut |value| {
        copy::copy(&7_i32, value);
    }));
    let replicas = value::get_at(&*object, "spec.replicas").expect("just set").view();
    assert!(matches!(replicas, View::Int(7)));
    let (mut other, _) = read(&kind, &json!({"metadata": {"name": "w"}, "spec": {}}));
    set_defaults(&mut *other, Environment::defaults());
    assert!(copy::copy_field("spec", &*object, &mut *other));
    assert_eq!(write(&*other)["spec"], json!({"replicas": 7}));
}

#[test]
fn selectors_take_names_places_and_what_is_declared() {
    let [kind, _] = kind(&Value::Null);
    let refusal = |selector: &str| {
        FieldQuery::parse_for(selector, &kind)
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(refusal("metadata.name=a,metadata.namespace=b"), None);
    let expected = "field label not supported: spec.replicas";
    assert_eq!(refusal("spec.replicas=3").as_deref(), Some(expected));
}

#[test]
fn finalizers_need_no_domain_but_should_have_one() {
    let [kind, _] = kind(&Value::Null);
    let object = |finalizers: &[&str]| {
        let metadata = json!({"name": "w", "namespace": "n", "finalizers": finalizers});
        read(&kind, &json!({"metadata": metadata})).0
    };
    let (old, new) = (
        object(&["a"]),
        object(&["a", "held", "parts.example.com", "example.com/held"]),
    );
    assert_eq!(check_create(&*new, &Context::default()).joined(), None);
    let warning = "metadata.finalizers: \"parts.example.com\": prefer a domain-qualified finalizer name including a path (/) to \
                   avoid accidental conflicts with other finalizer writers";
    let without_domain = "metadata.finalizers: \"held\": prefer a domain-qualified finalizer name to avoid accidental conflicts with \
                          other finalizer writers";
    assert_eq!(
        kind.strategy.warnings_on_update(&*new, &*old),
        [without_domain, warning]
    );
    assert_eq!(kind.strategy.warnings_on_update(&*new, &*new), [""; 0]);
}

#[test]
fn an_applied_null_is_kept_for_validation() {
    let [kind, _] = kind(&Value::Null);
    let document = json!({"metadata": {"name": "w"}, "spec": {"replicas": null, "tags": null}, "status": null});
    let mut applied = kind.zero();
    read_applied(document.clone(), &mut *applied).expect("an object");
    assert_eq!(write(&*applied)["spec"], document["spec"]);
    assert_eq!(write(&*applied).get("status"), Some(&Value::Null));
    set_defaults(&mut *applied, Environment::defaults());
    assert_eq!(write(&*applied)["spec"], json!({"replicas": 1, "tags": null}));
    let custom = applied.as_custom_mut().expect("a custom object");
    custom.prune();
    assert_eq!(write(&*applied)["spec"], json!({"replicas": 1}));
}

#[test]
fn an_applied_unknown_field_is_removed() {
    let [kind, _] = kind(&Value::Null);
    let document = json!({"metadata": {"name": "w"}, "spec": {"replicas": 2, "other": 1}});
    let mut applied = kind.zero();
    read_applied(document, &mut *applied).expect("an object");
    assert_eq!(write(&*applied)["spec"], json!({"replicas": 2}));
}

#[test]
fn keys_of_custom_kinds_begin_with_their_group() {
    let prefix = |group| {
        let table = ResourceTable {
            group: Cow::Borrowed(group),
            storage_name: Cow::Borrowed("pods"),
            ..CustomKind::FACTS
        };
        let (schema, checks) = (Arc::default(), Arc::new(Unchecked));
        let version = CustomVersion { table, schema, checks };
        CustomKind::define(vec![version], 0, None)[0].storage_prefix()
    };
    assert_eq!(prefix("example.com"), "/registry/example.com/pods/");
    // In any group, these are not those of the core group.
    assert_eq!(prefix("metrics.k8s.io"), "/registry/metrics.k8s.io/pods/");
}

#[test]
fn cells_are_those_of_go() {
    let column = |(ty, path): (&'static str, &str)| Column {
        ty: Cow::Borrowed(ty),
        source: CellSource::DefinedPath(Arc::new(LazyPath::of(path.to_owned()))),
        ..Column::NAME
    };
    let text = |path| ("string", path);
    let columns = [
        text(".status"),
        text(".spec"),
        text("."),
        text(".status.phase"),
        ("integer", ".size"),
    ];
    let table = ResourceTable {
        columns: columns.map(column).to_vec().into(),
        ..CustomKind::FACTS
    };
    let schema = Structural::compile(&json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let (schema, checks) = (Arc::new(schema), Arc::new(Unchecked));
    let kind = CustomKind::define(vec![CustomVersion { table, schema, checks }], 0, None).remove(0);
    let (object, _) = read(&kind, &json!({"metadata": {"name": "w"}, "spec": null, "size": 1e21}));
    let no_value = Cell::Text("<no value>".to_owned());
    assert_eq!(
        cells(&*object),
        [Cell::Null, no_value, Cell::Null, Cell::Null, Cell::Integer(i64::MIN)]
    );
}
