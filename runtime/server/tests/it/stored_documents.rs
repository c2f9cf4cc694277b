//! Custom resources in a store in which kube-apiserver writes, too.

use std::sync::Arc;

use planesmith_machinery::cbor;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_store::backend::{Backend as _, Lifetime, State, StateWrite};
use planesmith_store::conformance::{REGISTRY, SeveralWriters};
use planesmith_store::{Expect, Storage, StorageOptions, StoredForm};
use serde_json::{Value, json};

use crate::custom_versions::{body, of_one, path, version};
use crate::harness::{Server, with_feature};

fn kind(spec: &Value) -> ResourceFacts {
    of_one(version("v1", &[], spec, &json!({})))
}

async fn open(backend: &SeveralWriters) -> Storage {
    let options = StorageOptions::default();
    let storage = Storage::connect(Arc::new(backend.clone()), REGISTRY, &options);
    storage.await.expect("the store opens")
}

fn key(name: &str) -> String {
    format!("/registry/custom.example.com/crates/a/{name}")
}

/// Stores a value as another program does, before the server opens.
async fn put(backend: &SeveralWriters, name: &str, value: Vec<u8>) {
    let write = StateWrite {
        key: key(name).into(),
        value: Some(value.into()),
        expect: Expect::Any,
        lifetime: Lifetime::Unlimited,
    };
    backend.write(write).await.expect("it is written");
}

async fn stored(backend: &SeveralWriters, name: &str) -> Vec<u8> {
    let key = key(name);
    let mut found = Vec::new();
    let mut page = |states: Vec<State>| {
        let states = states.into_iter().filter(|state| *state.key == *key);
        found.extend(states.map(|state| state.value.to_vec()));
    };
    backend.load(REGISTRY, &mut page).await.expect("the backend answers");
    found.pop().unwrap_or_default()
}

fn document(name: &str, metadata: &Value, spec: &Value) -> Value {
    let mut document: Value = serde_json::from_str(&body("v1", name, spec)).expect("JSON");
    document["metadata"] =
        json!({"creationTimestamp": "2026-01-01T00:00:00Z", "name": name, "namespace": "a", "uid": "1"});
    let fields = metadata.as_object().expect("metadata").clone();
    document["metadata"].as_object_mut().expect("metadata").extend(fields);
    document
}

fn in_cbor(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    cbor::from_json(document.to_string().as_bytes(), &mut out).expect("JSON");
    out
}

#[tokio::test]
async fn the_stored_object_stays_beside_what_the_schema_makes_of_it() {
    let text = json!({"type": "string"});
    let without = kind(&json!({"a": text}));
    let with_default = kind(&json!({"a": text, "c": {"type": "string", "default": "C"}, "x": text}));
    let plain = kind(&json!({"a": text, "x": text}));
    let backend = SeveralWriters::default();
    let object = document("o", &json!({"generation": 1}), &json!({"a": "1", "x": "2"}));
    put(&backend, "o", format!("{object}\n").into_bytes()).await;
    let storage = open(&backend).await;
    let before = stored(&backend, "o").await;
    for (kind, expected, form) in [
        (&plain, json!({"a": "1", "x": "2"}), StoredForm::Current),
        (&without, json!({"a": "1"}), StoredForm::Earlier),
        (
            &with_default,
            json!({"a": "1", "c": "C", "x": "2"}),
            StoredForm::Earlier,
        ),
        (&plain, json!({"a": "1", "x": "2"}), StoredForm::Current),
    ] {
        // A store that opens now, and one that had another definition before.
        for storage in [open(&backend).await, storage.clone()] {
            let server = Server::of(storage, &[kind]);
            assert_eq!(server.get(&path("v1", "/o")).await.at("/spec"), expected);
            assert_eq!(server.get(&path("v1", "")).await.at("/items/0/spec"), expected);
            let entry = server
                .stores
                .resource(kind)
                .collection()
                .get(&key("o"))
                .expect("it is there");
            assert_eq!(entry.stored_form(), form);
            let is_one = entry.bytes().as_ptr() == entry.stored_bytes().as_ptr();
            assert_eq!(
                is_one,
                form == StoredForm::Current,
                "two objects are kept where they differ"
            );
        }
    }
    let storage = open(&backend).await;
    Server::of(storage.clone(), &[&without]);
    let server = Server::of(storage, &[&plain]);
    let entry = server.stores.resource(&plain).collection().get(&key("o"));
    let form = entry.expect("it is there").stored_form();
    assert_eq!(
        form,
        StoredForm::Current,
        "what another definition made of it leaves no trace"
    );
    assert_eq!(stored(&backend, "o").await, before);
}

#[tokio::test]
async fn stored_metadata_of_the_wrong_type_is_dropped_and_the_object_can_be_deleted() {
    let backend = SeveralWriters::default();
    let metadata = json!({"annotations": {"bar": "abc", "foo": 42}, "labels": {"a": "b"}});
    put(
        &backend,
        "o",
        document("o", &metadata, &json!({})).to_string().into_bytes(),
    )
    .await;
    let server = Server::of(open(&backend).await, &[&kind(&json!({}))]);
    let read = server.get(&path("v1", "/o")).await;
    assert_eq!(read.code, 200, "{}", read.text);
    assert_eq!(read.at("/metadata/annotations"), Value::Null);
    assert_eq!(read.at("/metadata/labels"), json!({"a": "b"}));
    assert_eq!(read.at("/metadata/generation"), json!(1));
    let listed = server.get(&path("v1", "?labelSelector=a%3Db")).await;
    assert_eq!(listed.names(), ["o"]);
    assert_eq!(listed.at("/items/0/metadata/generation"), json!(1));
    let deleted = server.delete(&path("v1", "/o"), "").await;
    assert_eq!(deleted.code, 200, "{}", deleted.text);
    assert!(stored(&backend, "o").await.is_empty());
}

#[tokio::test]
async fn cbor_is_read_always_and_written_with_the_feature() {
    let kind = kind(&json!({"a": {"type": "string"}, "n": {"type": "integer"}}));
    let backend = SeveralWriters::default();
    let object = document("o", &json!({"generation": 1}), &json!({"a": "1", "n": -3}));
    put(&backend, "o", in_cbor(&object)).await;
    let server = Server::of(open(&backend).await, &[&kind]);
    assert_eq!(server.get(&path("v1", "/o")).await.at("/spec"), object["spec"]);
    assert_eq!(server.get(&path("v1", "")).await.names(), ["o"]);
    // A write that changes nothing stores the form of this server.
    assert_eq!(server.patch("merge", &path("v1", "/o"), "{}").await.code, 200);
    assert_eq!(stored(&backend, "o").await, format!("{object}\n").into_bytes());

    let mut scheme = Scheme::new();
    scheme.add_facts(&kind);
    scheme.set_environment(Environment {
        features: with_feature("CBORServingAndStorage"),
        ..Environment::defaults().clone()
    });
    let server = Server::of_scheme(open(&backend).await, scheme);
    assert_eq!(server.get(&path("v1", "/o")).await.at("/spec"), object["spec"]);
    assert_eq!(server.patch("merge", &path("v1", "/o"), "{}").await.code, 200);
    assert_eq!(stored(&backend, "o").await, in_cbor(&object));
    server
        .create(&path("v1", ""), &body("v1", "new", &json!({"a": "2"})))
        .await;
    assert!(stored(&backend, "new").await.starts_with(&cbor::SELF_DESCRIBED));
    assert_eq!(server.get(&path("v1", "/new")).await.at("/spec/a"), json!("2"));
}
