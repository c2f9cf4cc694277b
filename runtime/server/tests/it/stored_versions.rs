//! One data folder under programs with different storage versions of a kind.

use std::path::Path;
use std::sync::Arc;

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::{Resource, Struct};
use planesmith_server::stores::ResourceStore;
use planesmith_store::{ListQuery, Storage, StorageOptions, StoredForm};
use planesmith_store_sled::SledLog;
use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use crate::watches::Watch;

/// A version of the kind, as one program declares it: the attributes of the kind, then the field of the spec whose name
/// differs between versions, then the additions of the version.
macro_rules! version {
    ($version:tt, [$($keys:tt)*], [$($field:tt)*] $name:ident, { $($more:tt)* }) => {
        /// A crate.
        #[derive(Clone, Debug, Default, PartialEq, Resource)]
        #[resource(group = "test.example.com", version = $version, kind = "Crate", status)]
        #[resource($($keys)*)]
        pub(crate) struct Crate {
            /// Metadata.
            #[field(proto = 1)]
            pub(crate) metadata: ObjectMeta,
            /// The desired state.
            #[field(proto = 2)]
            pub(crate) spec: Spec,
            /// The observed state.
            #[field(proto = 3)]
            pub(crate) status: Status,
        }

        /// The desired state.
        #[derive(Clone, Debug, Default, PartialEq, Struct)]
        pub(crate) struct Spec {
            /// The label on it.
            #[field(proto = 1, $($field)*)]
            pub(crate) $name: String,
            /// A field that has the same name in every version.
            #[field(proto = 2)]
            pub(crate) weight: i32,
            $($more)*
        }

        /// The observed state.
        #[derive(Clone, Debug, Default, PartialEq, Struct)]
        pub(crate) struct Status {
            /// The progress.
            #[field(proto = 1)]
            pub(crate) phase: String,
        }
    };
}

/// The first program.
mod first {
    pub(super) mod v1alpha1 {
        use crate::stored_versions::*;
        version!("v1alpha1", [selectable("spec.label")], [] label, {});
    }
}

/// The program that stores v1beta1.
mod second {
    pub(super) mod v1alpha1 {
        use crate::stored_versions::*;
        version!(
            "v1alpha1",
            [storage_version = super::v1beta1::Crate, selectable("spec.label")],
            [moved_to = "spec.title"] label, {}
        );
    }
    pub(super) mod v1beta1 {
        use crate::stored_versions::*;
        version!("v1beta1", [selectable("spec.title", "spec.colour")], [] title, {
            /// The default for crates without a colour.
            #[field(proto = 3, default = "white")]
            pub(crate) colour: String,
        });
    }
}

/// The program that stores v1.
mod third {
    pub(super) mod v1alpha1 {
        use crate::stored_versions::*;
        version!(
            "v1alpha1",
            [storage_version = super::v1::Crate, selectable("spec.label")],
            [moved_to = "spec.heading"] label, {}
        );
    }
    pub(super) mod v1beta1 {
        use crate::stored_versions::*;
        version!(
            "v1beta1",
            [storage_version = super::v1::Crate, unserved],
            [moved_to = "spec.heading"] title, {
                /// The default for crates without a colour.
                #[field(proto = 3, default = "white")]
                pub(crate) colour: String,
            }
        );
    }
    pub(super) mod v1 {
        use crate::stored_versions::*;
        version!("v1", [selectable("spec.heading", "spec.lid")], [] heading, {
            /// The default for crates without a colour.
            #[field(proto = 3, default = "white")]
            pub(crate) colour: String,
            /// Added after the first crates were stored in this version.
            #[field(proto = 4, default = "closed")]
            pub(crate) lid: String,
        });
    }
}

/// The program that stores v1alpha1 again.
mod back {
    pub(super) mod v1alpha1 {
        use crate::stored_versions::*;
        version!("v1alpha1", [selectable("spec.label")], [] label, {});
    }
    pub(super) mod v1 {
        use crate::stored_versions::*;
        version!(
            "v1",
            [storage_version = super::v1alpha1::Crate, unserved],
            [moved_to = "spec.label"] heading, {}
        );
    }
}

const FIRST: &[&ResourceFacts] = &[first::v1alpha1::Crate::RESOURCE];
const SECOND: &[&ResourceFacts] = &[second::v1alpha1::Crate::RESOURCE, second::v1beta1::Crate::RESOURCE];
const THIRD: &[&ResourceFacts] = &[
    third::v1alpha1::Crate::RESOURCE,
    third::v1beta1::Crate::RESOURCE,
    third::v1::Crate::RESOURCE,
];
const BACK: &[&ResourceFacts] = &[back::v1alpha1::Crate::RESOURCE, back::v1::Crate::RESOURCE];

fn path(version: &str, rest: &str) -> String {
    format!("/apis/test.example.com/{version}/namespaces/a/crates{rest}")
}

fn start(folder: &Path, kinds: &[&ResourceFacts]) -> Server {
    let log = SledLog::open(folder).expect("the folder opens");
    Server::of(
        Storage::open(log, &StorageOptions::default()).expect("the log opens"),
        kinds,
    )
}

fn store(server: &Server, kinds: &[&ResourceFacts]) -> Arc<ResourceStore> {
    server.stores.resource(kinds[0])
}

/// Name and stored form of all objects.
fn forms(server: &Server, kinds: &[&ResourceFacts]) -> Vec<(String, StoredForm)> {
    let store = store(server, kinds);
    let page = store.collection().list(&ListQuery::all(store.collection().prefix()));
    let entries = page.expect("the newest state").entries;
    let named = entries
        .iter()
        .map(|entry| (store.names(entry.key()).1.to_owned(), entry.stored_form()));
    named.collect()
}

async fn migrate(server: &Server, kinds: &[&ResourceFacts]) -> usize {
    let mut migration = store(server, kinds).migration();
    while migration.step().await.expect("stored") {}
    migration.rewritten()
}

/// Two crates under the first program; returns one of them.
async fn begin(folder: &Path) -> Answer {
    let server = start(folder, FIRST);
    for (name, label) in [("old", "Apples"), ("other", "Pears")] {
        let body = json!({"metadata": {"name": name}, "spec": {"label": label, "weight": 7}});
        server
            .create(&path("v1alpha1", "?fieldManager=a"), &body.to_string())
            .await;
    }
    let done = r#"{"metadata":{"name":"old"},"status":{"phase":"Packed"}}"#;
    let begun = server.put(&path("v1alpha1", "/old/status?fieldManager=b"), done).await;
    assert_eq!(begun.code, 200, "{}", begun.text);
    server.storage.close().await;
    begun
}

/// Checks that the second program serves the objects of the first one, of which one is `begun`.
async fn go_on(folder: &Path, begun: &Answer) {
    let server = start(folder, SECOND);
    let old = server.get(&path("v1beta1", "/old")).await;
    assert_eq!(
        old.at("/spec"),
        json!({"title": "Apples", "weight": 7, "colour": "white"})
    );
    assert_eq!(old.at("/status"), json!({"phase": "Packed"}));
    assert_eq!(old.version(), begun.version(), "nothing was written");
    let managers: Vec<Value> = old.at("/metadata/managedFields").as_array().expect("a list").clone();
    let versions: Vec<&Value> = managers.iter().map(|manager| &manager["apiVersion"]).collect();
    assert_eq!(versions, ["test.example.com/v1alpha1"; 2]);
    let before = server.get(&path("v1alpha1", "/old")).await;
    assert_eq!(before.at("/spec"), json!({"label": "Apples", "weight": 7}));
    for (version, selector) in [
        ("v1beta1", "spec.title=Apples,spec.colour=white"),
        ("v1alpha1", "spec.label=Apples"),
    ] {
        let selected = server.get(&path(version, &format!("?fieldSelector={selector}"))).await;
        assert_eq!(selected.names(), ["old"], "{version}");
    }
    let list = server.get(&path("v1beta1", "")).await;
    assert_eq!(
        list.at("/items/1/spec"),
        json!({"title": "Pears", "weight": 7, "colour": "white"})
    );
    let history = path("v1beta1", "?watch=1&resourceVersion=1");
    let event = Watch::of(&server, &history).await.next().await.expect("an event");
    assert_eq!(event["object"]["apiVersion"], "test.example.com/v1beta1");
    assert_eq!(event["object"]["spec"]["title"], "Pears", "the history, too: {event}");
    // A patch keeps the fields that it does not name.
    let patched = server
        .patch("merge", &path("v1beta1", "/old"), r#"{"spec":{"weight":8}}"#)
        .await;
    assert_eq!(
        patched.at("/spec"),
        json!({"title": "Apples", "weight": 8, "colour": "white"})
    );
    assert_eq!(
        forms(&server, SECOND),
        [
            ("old".to_owned(), StoredForm::Current),
            ("other".to_owned(), StoredForm::OtherVersion)
        ]
    );
    // A write that changes nothing stores the new form, as in kube-apiserver.
    let same = server.patch("merge", &path("v1beta1", "/other"), "{}").await;
    assert_ne!(same.version(), list.at("/items/1/metadata/resourceVersion"));
    assert_eq!(migrate(&server, SECOND).await, 0, "nothing is left");
    server.storage.close().await;
}

#[tokio::test]
async fn a_folder_goes_through_three_storage_versions_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let begun = begin(folder.path()).await;
    go_on(folder.path(), &begun).await;
    let server = start(folder.path(), THIRD);
    let new = server.get(&path("v1", "/old")).await;
    assert_eq!(
        new.at("/spec"),
        json!({"heading": "Apples", "weight": 8, "colour": "white", "lid": "closed"})
    );
    let selected = server.get(&path("v1", "?fieldSelector=spec.lid=closed")).await;
    assert_eq!(selected.names(), ["old", "other"]);
    let watch = path("v1", &format!("?watch=1&resourceVersion={}", selected.version()));
    let mut watch = Watch::of(&server, &watch).await;
    assert_eq!(migrate(&server, THIRD).await, 2);
    assert_eq!(
        forms(&server, THIRD)
            .iter()
            .filter(|(_, form)| *form != StoredForm::Current)
            .count(),
        0
    );
    for name in ["old", "other"] {
        let event = watch.next().await.expect("an event");
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["name"]),
            (&json!("MODIFIED"), &json!(name))
        );
    }
    let migrated = server.get(&path("v1", "/old")).await;
    let fields = "/metadata/managedFields";
    assert_eq!(migrated.at(fields), new.at(fields), "nobody manages more");
    server.storage.close().await;
    drop(server);

    let server = start(folder.path(), BACK);
    let back = server.get(&path("v1alpha1", "/old")).await;
    assert_eq!(back.at("/spec"), json!({"label": "Apples", "weight": 8}));
    assert_eq!(migrate(&server, BACK).await, 2);
    server.storage.close().await;
    drop(server);

    let server = start(folder.path(), FIRST);
    assert_eq!(
        server.get(&path("v1alpha1", "/old")).await.at("/spec"),
        back.at("/spec")
    );
    assert!(
        forms(&server, FIRST)
            .iter()
            .all(|(_, form)| *form == StoredForm::Current)
    );
    server.storage.close().await;
}

#[tokio::test]
async fn objects_of_an_unknown_version_are_kept_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = start(folder.path(), THIRD);
    let body = r#"{"metadata":{"name":"new","labels":{"a":"b"}},"spec":{"heading":"Apples"}}"#;
    server.create(&path("v1", ""), body).await;
    let stored = store(&server, THIRD);
    let key = stored.key("a", "new").expect("a name");
    let bytes = stored.collection().get(&key).expect("an object").bytes().to_vec();
    server.storage.close().await;
    drop((server, stored));

    let server = start(folder.path(), FIRST);
    let why = "no kind \"Crate\" is registered for version \"test.example.com/v1\" in scheme \
               \"pkg/api/legacyscheme/scheme.go:30\"";
    let unreadable = (500, why.to_owned());
    let object = path("v1alpha1", "/new");
    let patch = server.patch("merge", &object, r#"{"spec":{"label":"b"}}"#).await;
    let put = server
        .put(&object, r#"{"metadata":{"name":"new"},"spec":{"label":"b"}}"#)
        .await;
    for answer in [
        server.get(&object).await,
        server.get(&path("v1alpha1", "")).await,
        server
            .get_as("application/json;as=Table;g=meta.k8s.io;v=v1", &object)
            .await,
        server
            .get_as("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", &object)
            .await,
        server
            .get_as(
                "application/vnd.kubernetes.protobuf,application/json",
                &path("v1alpha1", "?limit=1"),
            )
            .await,
        patch,
        put,
        server.delete(&object, "").await,
        server.delete(&path("v1alpha1", ""), "").await,
    ] {
        assert!(
            answer.code == 500 && answer.text.contains("is registered for version"),
            "{}",
            answer.text
        );
    }
    assert_eq!(server.get(&object).await.refusal(), unreadable);
    let taken = server
        .post(&path("v1alpha1", ""), r#"{"metadata":{"name":"new"}}"#)
        .await;
    assert_eq!(taken.code, 409, "{}", taken.text);
    let store = store(&server, FIRST);
    assert_eq!(store.unreadable(), [(key.as_str().into(), why.to_owned())]);
    assert_eq!(*store.collection().get(&key).expect("still there").bytes(), *bytes);
    assert_eq!(migrate(&server, FIRST).await, 0);
    server.storage.close().await;
    drop((server, store));

    let server = start(folder.path(), THIRD);
    assert_eq!(server.get(&path("v1", "/new")).await.at("/spec/heading"), "Apples");
    server.storage.close().await;
}

/// The program that stores v1, with a default and without a field that crates were stored with.
mod with_default {
    pub(super) mod v1 {
        use crate::stored_versions::*;
        version!("v1", [selectable("spec.heading", "spec.side")], [] heading, {
            /// A field that was added later.
            #[field(proto = 5, default = "left")]
            pub(crate) side: String,
        });
    }
}

#[tokio::test]
async fn defaults_added_later_are_applied_on_reading() {
    const NOW: &[&ResourceFacts] = &[with_default::v1::Crate::RESOURCE];
    let folder = tempfile::tempdir().expect("a folder");
    let server = start(folder.path(), &THIRD[2..]);
    let created = server
        .create(
            &path("v1", ""),
            r#"{"metadata":{"name":"a"},"spec":{"heading":"Apples"}}"#,
        )
        .await;
    server.storage.close().await;
    drop(server);

    let server = start(folder.path(), NOW);
    let read = server.get(&path("v1", "/a")).await;
    assert_eq!(
        read.at("/spec"),
        json!({"heading": "Apples", "side": "left"}),
        "{}",
        read.text
    );
    assert_eq!(
        read.at("/metadata/resourceVersion"),
        created["metadata"]["resourceVersion"]
    );
    assert_eq!(
        server.get(&path("v1", "?fieldSelector=spec.side=left")).await.names(),
        ["a"]
    );
    assert_eq!(forms(&server, NOW), [("a".to_owned(), StoredForm::Earlier)]);
    assert_eq!(migrate(&server, NOW).await, 0, "it is of the storage version");
    let same = server.patch("merge", &path("v1", "/a"), "{}").await;
    assert_ne!(same.version(), read.version(), "it is stored with its defaults");
    let again = server.patch("merge", &path("v1", "/a"), "{}").await;
    assert_eq!(again.version(), same.version());
    server.storage.close().await;
}
