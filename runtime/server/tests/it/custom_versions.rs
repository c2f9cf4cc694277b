//! Custom kinds whose definition changed after objects were stored.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::available_parallelism;
use std::time::Duration;

use planesmith_dynamic::custom::{Converter, Converting, CustomKind, CustomVersion, Unchecked};
use planesmith_dynamic::structural::Structural;
use planesmith_machinery::resource::{
    ResourceFacts, ResourceTable, ScaleFacts, SubresourceFacts, SubresourceKind, Text,
};
use planesmith_store::{MemoryLog, Storage, StorageOptions};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::harness::Server;
use crate::watches::Watch;

/// A converter: renames `spec.title` of v1beta1 to `spec.heading` in v1, and counts the converted documents.
#[derive(Default)]
struct Renames {
    documents: AtomicUsize,
    /// Conversions that block their threads.
    blocking: AtomicUsize,
}

impl Converter for Renames {
    fn convert<'a>(&'a self, documents: Vec<Value>, to: &'a ResourceFacts) -> Converting<'a, Vec<Value>> {
        self.documents.fetch_add(documents.len(), Ordering::Relaxed);
        Box::pin(async move {
            let converted = documents.into_iter().map(|document| renamed(document, to));
            Ok(converted.collect())
        })
    }

    fn convert_now(&self, document: Value, to: &ResourceFacts) -> Result<Value, String> {
        self.blocking.fetch_add(1, Ordering::Relaxed);
        Ok(renamed(document, to))
    }
}

fn renamed(mut document: Value, to: &ResourceFacts) -> Value {
    let (from, name) = match &*to.version {
        "v1" => ("title", "heading"),
        _ => ("heading", "title"),
    };
    document["apiVersion"] = (*to.api_version).into();
    let value = document["spec"][from].take();
    document["spec"] = json!({name: value});
    document
}

/// A converter like [`Renames`], but conversions that block their threads do so until it is released.
struct Stuck {
    entered: Semaphore,
    released: Mutex<bool>,
    release: Condvar,
}

impl Stuck {
    fn release(&self) {
        *self.released.lock().expect("no panic") = true;
        self.release.notify_all();
    }
}

impl Converter for Stuck {
    fn convert<'a>(&'a self, documents: Vec<Value>, to: &'a ResourceFacts) -> Converting<'a, Vec<Value>> {
        let converted = documents.into_iter().map(|document| renamed(document, to));
        Box::pin(std::future::ready(Ok(converted.collect())))
    }

    fn convert_now(&self, document: Value, to: &ResourceFacts) -> Result<Value, String> {
        self.entered.add_permits(1);
        let released = self.released.lock().expect("no panic");
        let wait = self
            .release
            .wait_timeout_while(released, Duration::from_secs(60), |released| !*released);
        drop(wait.expect("no panic"));
        Ok(renamed(document, to))
    }
}

const SCALE: SubresourceFacts = SubresourceFacts {
    name: "scale",
    kind: SubresourceKind::Scale(ScaleFacts {
        spec_replicas: Cow::Borrowed("spec.size"),
        status_replicas: Cow::Borrowed("status.size"),
        selector: Cow::Borrowed(""),
    }),
};

/// A version of the kind with the given properties of its spec.
pub(crate) fn version(
    version: &'static str,
    selectable: &'static [Text],
    spec: &Value,
    extra: &Value,
) -> CustomVersion {
    let table = ResourceTable {
        group: Cow::Borrowed("custom.example.com"),
        version: Cow::Borrowed(version),
        api_version: format!("custom.example.com/{version}").into(),
        kind: Cow::Borrowed("Crate"),
        list_kind: Cow::Borrowed("CrateList"),
        plural: Cow::Borrowed("crates"),
        singular: Cow::Borrowed("crate"),
        storage_name: Cow::Borrowed("crates"),
        hashed_version: Cow::Borrowed(version),
        selectable: Cow::Borrowed(selectable),
        subresources: Cow::Borrowed(&[SCALE]),
        ..CustomKind::FACTS
    };
    let mut schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}});
    if let (Some(schema), Some(extra)) = (schema.as_object_mut(), extra.as_object()) {
        schema.extend(extra.clone());
    }
    CustomVersion {
        table,
        schema: Arc::new(Structural::compile(&schema)),
        checks: Arc::new(Unchecked),
    }
}

/// A kind with one version.
pub(crate) fn of_one(version: CustomVersion) -> ResourceFacts {
    CustomKind::define(vec![version], 0, None).remove(0)
}

fn memory() -> Storage {
    Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens")
}

pub(crate) fn path(version: &str, rest: &str) -> String {
    format!("/apis/custom.example.com/{version}/namespaces/a/crates{rest}")
}

pub(crate) fn body(version: &str, name: &str, spec: &Value) -> String {
    let api_version = format!("custom.example.com/{version}");
    json!({"apiVersion": api_version, "kind": "Crate", "metadata": {"name": name}, "spec": spec}).to_string()
}

/// Both versions, with the one at `hub` as the storage version.
fn converted(hub: usize) -> Vec<ResourceFacts> {
    converted_by(&Arc::<Renames>::default(), hub)
}

fn converted_by<C: Converter + 'static>(converter: &Arc<C>, hub: usize) -> Vec<ResourceFacts> {
    const SELECTABLE: [&[Text]; 2] = [&[Cow::Borrowed("spec.title")], &[Cow::Borrowed("spec.heading")]];
    let text = json!({"type": "string"});
    let versions = vec![
        version("v1beta1", SELECTABLE[0], &json!({"title": text}), &json!({})),
        version("v1", SELECTABLE[1], &json!({"heading": text}), &json!({})),
    ];
    let converter = Arc::clone(converter) as Arc<dyn Converter>;
    CustomKind::define(versions, hub, Some(&converter))
}

/// A server of the versions of a custom kind.
fn serve(storage: Storage, versions: &[ResourceFacts]) -> Server {
    Server::of(storage, &versions.iter().collect::<Vec<_>>())
}

#[tokio::test]
async fn fields_are_selected_in_the_version_that_is_asked_for() {
    let storage = memory();
    let server = serve(storage.clone(), &converted(0));
    for name in ["a", "b", "c"] {
        let title = if name == "b" { "Pears" } else { "Apples" };
        server
            .create(&path("v1beta1", ""), &body("v1beta1", name, &json!({"title": title})))
            .await;
    }
    let server = serve(storage, &converted(1));
    for (version, field) in [("v1", "spec.heading"), ("v1beta1", "spec.title")] {
        let select = |rest: &str| path(version, &format!("?fieldSelector={field}{rest}"));
        assert_eq!(server.get(&select("%3DApples")).await.names(), ["a", "c"], "{version}");
        assert_eq!(server.get(&select("!%3DApples")).await.names(), ["b"], "{version}");
        let page = server.get(&select("%3DApples&limit=1")).await;
        assert_eq!(page.names(), ["a"], "{version}");
        let next = page.at("/metadata/continue");
        let next = server
            .get(&select(&format!(
                "%3DApples&limit=1&continue={}",
                next.as_str().expect("a token")
            )))
            .await;
        assert_eq!(
            (next.names(), next.at("/metadata/continue")),
            (vec!["c".to_owned()], json!("")),
            "{version}"
        );
    }
    let from = server.get(&path("v1", "")).await.version();
    let query = |field: &str| format!("?watch=1&resourceVersion={from}&fieldSelector={field}%3DPears");
    let mut old = Watch::of(&server, &path("v1beta1", &query("spec.title"))).await;
    let mut new = Watch::of(&server, &path("v1", &query("spec.heading"))).await;
    let moved = server
        .patch("merge", &path("v1", "/a"), r#"{"spec":{"heading":"Pears"}}"#)
        .await;
    assert_eq!(moved.code, 200, "{}", moved.text);
    for watch in [&mut old, &mut new] {
        let event = watch.next().await.expect("an event");
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["name"]),
            (&json!("ADDED"), &json!("a"))
        );
    }
    let initial = path("v1", "?watch=1&fieldSelector=spec.heading%3DApples");
    let event = Watch::of(&server, &initial).await.next().await.expect("an event");
    assert_eq!(event["object"]["metadata"]["name"], "c");
    let gone = server
        .delete(&path("v1", "?fieldSelector=spec.heading%3DPears"), "")
        .await;
    assert_eq!(gone.names(), ["a", "b"]);
    assert_eq!(server.get(&path("v1", "")).await.names(), ["c"]);
}

#[tokio::test]
async fn a_page_of_selected_objects_reads_no_more_than_it_shows() {
    let storage = memory();
    let server = serve(storage.clone(), &converted(0));
    for index in 0..80 {
        let title = if index % 2 == 0 { "Pears" } else { "Apples" };
        let object = body("v1beta1", &format!("c{index:02}"), &json!({"title": title}));
        server.create(&path("v1beta1", ""), &object).await;
    }
    let converter = Arc::<Renames>::default();
    let server = serve(storage, &converted_by(&converter, 1));
    let count = || converter.documents.load(Ordering::Relaxed);
    let select = |rest: &str| path("v1", &format!("?fieldSelector=spec.heading%3DApples{rest}"));
    assert_eq!(server.get(&select("&limit=2")).await.names(), ["c01", "c03"]);
    assert_eq!(count(), 32);
    assert_eq!(server.get(&select("&limit=30")).await.names().len(), 30);
    assert_eq!(count(), 64);
    assert_eq!(server.get(&select("")).await.names().len(), 40);
    assert_eq!(count(), 80);
}

#[tokio::test]
async fn a_scale_over_a_value_of_the_wrong_type_says_so() {
    let storage = memory();
    let only = |spec: Value| of_one(version("v1", &[], &spec, &json!({})));
    let server = Server::of(storage.clone(), &[&only(json!({"size": {"type": "string"}}))]);
    server
        .create(&path("v1", ""), &body("v1", "a", &json!({"size": "many"})))
        .await;
    let server = Server::of(storage, &[&only(json!({"size": {"type": "integer"}}))]);
    let why = ".spec.size accessor error: many is of the type string, expected int64";
    let scale = path("v1", "/a/scale");
    let put = r#"{"metadata":{"name":"a"},"spec":{"replicas":2}}"#;
    for answer in [
        server.get(&scale).await,
        server.put(&scale, put).await,
        server.patch("merge", &scale, r#"{"spec":{"replicas":2}}"#).await,
    ] {
        assert_eq!(answer.refusal(), (500, why.to_owned()));
    }
    let mended = server.patch("merge", &path("v1", "/a"), r#"{"spec":{"size":1}}"#).await;
    assert_eq!(mended.code, 200, "{}", mended.text);
    assert_eq!(server.put(&scale, put).await.at("/spec/replicas"), 2);
}

#[tokio::test]
async fn an_applied_scale_has_conflicts_and_changes_nothing() {
    let server = Server::of(
        memory(),
        &[&of_one(version(
            "v1",
            &[],
            &json!({"size": {"type": "integer"}}),
            &json!({}),
        ))],
    );
    server.create(&path("v1", ""), &body("v1", "a", &json!({}))).await;
    let scale = path("v1", "/a/scale?fieldManager=m");
    let apply = async |suffix: &str, spec: Value| {
        let applied = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": spec});
        let answer = server.apply(&format!("{scale}{suffix}"), &applied.to_string()).await;
        (answer.code, answer.at("/message"))
    };
    let failed = |what: &str| {
        let why = "request to convert CR to an invalid group/version: autoscaling/v1";
        json!(format!(
            "{what} object (/; autoscaling/v1, Kind=Scale) to proper version: {why}"
        ))
    };
    let unowned = failed("failed to create manager for existing fields: failed to convert live");
    assert_eq!(apply("", json!({"replicas": 1})).await, (500, unowned));
    let patched = server
        .patch("merge", &path("v1", "/a?fieldManager=u"), r#"{"spec":{"size":1}}"#)
        .await;
    assert_eq!(patched.code, 200, "{}", patched.text);
    assert_eq!(apply("", json!({})).await, (200, Value::Null));
    assert_eq!(apply("", json!({"replicas": 1})).await, (200, Value::Null));
    let conflict = json!("Apply failed with 1 conflict: conflict with \"u\" using autoscaling/v1: .spec.replicas");
    assert_eq!(apply("", json!({"replicas": 3})).await, (409, conflict));
    let changed = failed("failed to convert new");
    assert_eq!(apply("&force=true", json!({"replicas": 3})).await, (500, changed));
}

#[tokio::test]
async fn applied_fields_that_are_not_stored_count_as_a_change() {
    let kind = of_one(version("v1", &[], &json!({}), &json!({})));
    let server = Server::of(memory(), &[&kind]);
    server.create(&path("v1", ""), &body("v1", "a", &json!({}))).await;
    let object = path("v1", "/a?fieldManager=one");
    for generation in [2, 3] {
        let applied = server.apply(&object, &body("v1", "a", &json!({"x": 1}))).await;
        assert_eq!(
            (applied.code, applied.at("/spec")),
            (200, json!({})),
            "{}",
            applied.text
        );
        assert_eq!(applied.at("/metadata/generation"), generation);
    }
    // Patches are read without the fields, and so are compared without them.
    let patched = server.patch("merge", &object, r#"{"spec":{"x":2}}"#).await;
    assert_eq!((patched.code, patched.at("/metadata/generation")), (200, json!(3)));
}

#[tokio::test]
async fn fields_that_are_kept_at_the_root_can_be_applied() {
    for extra in [
        json!({"x-kubernetes-preserve-unknown-fields": true}),
        json!({"x-kubernetes-preserve-unknown-fields": true, "properties": {}}),
    ] {
        let kind = of_one(version("v1", &[], &json!({}), &extra));
        apply_unknown_fields(&Server::of(memory(), &[&kind])).await;
    }
}

async fn apply_unknown_fields(server: &Server) {
    let mut applied: Value = serde_json::from_str(&body("v1", "a", &json!({}))).expect("JSON");
    applied["more"] = json!({"a": 1, "list": [1, 2]});
    let object = path("v1", "/a?fieldManager=one");
    let created = server.apply(&object, &applied.to_string()).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(created.at("/more"), applied["more"]);
    assert_eq!(created.at("/metadata/managedFields/0/fieldsV1/f:more/f:a"), json!({}));
    applied["more"] = json!({"b": true});
    let changed = server.apply(&object, &applied.to_string()).await;
    assert_eq!(
        (changed.code, changed.at("/more")),
        (200, json!({"b": true})),
        "{}",
        changed.text
    );
    let other = path("v1", "/a?fieldManager=two");
    applied["more"] = json!({"c": null});
    let shared = server.apply(&other, &applied.to_string()).await;
    assert_eq!(shared.code, 200, "{}", shared.text);
    let patched = server.patch("merge", &path("v1", "/a"), r#"{"most":[{"x":1}]}"#).await;
    assert_eq!(
        (patched.code, patched.at("/most/0/x")),
        (200, json!(1)),
        "{}",
        patched.text
    );
    applied["most"] = json!([]);
    let refused = server.apply(&other, &applied.to_string()).await;
    assert_eq!(refused.code, 409, "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn applies_that_wait_for_a_converter_hold_up_nobody() {
    let converter = Arc::new(Stuck {
        entered: Semaphore::new(0),
        released: Mutex::new(false),
        release: Condvar::new(),
    });
    let server = Arc::new(serve(memory(), &converted_by(&converter, 1)));
    let large = "x".repeat(70_000);
    // Its manager is one of the older version.
    server
        .create(&path("v1beta1", ""), &body("v1beta1", "a", &json!({"title": large})))
        .await;
    let threads = u32::try_from(available_parallelism().map_or(2, usize::from).max(2)).expect("few");
    let applies: Vec<_> = (0..threads)
        .map(|manager| {
            let server = Arc::clone(&server);
            let path = path("v1", &format!("/a?fieldManager=m{manager}&force=true"));
            tokio::spawn(async move { server.apply(&path, &body("v1", "a", &json!({"heading": "new"}))).await })
        })
        .collect();
    let waiting = timeout(Duration::from_secs(60), converter.entered.acquire_many(threads)).await;
    waiting.expect("all applies wait").expect("open").forget();
    let object = body("v1", "b", &json!({"heading": large}));
    let other = timeout(Duration::from_secs(20), server.post(&path("v1", ""), &object)).await;
    converter.release();
    assert_eq!(other.expect("nobody is held up").code, 201);
    for apply in applies {
        assert_eq!(apply.await.expect("no panic").code, 200);
    }
}

#[tokio::test]
async fn deletions_by_the_server_itself_call_no_converter() {
    let storage = memory();
    let server = serve(storage.clone(), &converted(0));
    for name in ["a", "b"] {
        server
            .create(&path("v1beta1", ""), &body("v1beta1", name, &json!({"title": "t"})))
            .await;
    }
    let finalizers = r#"{"metadata":{"finalizers":["example.com/x"]}}"#;
    let kept = server.patch("merge", &path("v1beta1", "/b"), finalizers).await;
    assert_eq!(kept.code, 200, "{}", kept.text);
    let converter = Arc::<Renames>::default();
    let server = serve(storage, &converted_by(&converter, 1));
    let calls = || {
        let [blocking, documents] =
            [&converter.blocking, &converter.documents].map(|calls| calls.load(Ordering::Relaxed));
        (blocking, documents)
    };
    let gone = server.delete(&path("v1", "/a"), "").await;
    assert_eq!((gone.code, calls()), (200, (0, 0)), "{}", gone.text);
    let marked = server.delete(&path("v1", "/b"), "").await;
    assert_eq!(
        (marked.at("/spec"), calls()),
        (json!({"heading": "t"}), (0, 1)),
        "it is converted for the answer only: {}",
        marked.text
    );
    let free = server
        .patch("merge", &path("v1", "/b"), r#"{"metadata":{"finalizers":null}}"#)
        .await;
    assert_eq!(free.code, 200, "{}", free.text);
    assert_eq!(server.get(&path("v1", "/b")).await.code, 404);
}

/// A converter that fails, and counts calls.
#[derive(Default)]
struct Broken(AtomicUsize);

impl Converter for Broken {
    fn convert<'a>(&'a self, _: Vec<Value>, _: &'a ResourceFacts) -> Converting<'a, Vec<Value>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Err("no ink".to_owned())))
    }

    fn convert_now(&self, _: Value, _: &ResourceFacts) -> Result<Value, String> {
        Err("a thread is blocked".to_owned())
    }
}

#[tokio::test]
async fn objects_that_cannot_be_converted_are_not_deleted() {
    let converter = Arc::<Broken>::default();
    let server = serve(memory(), &converted_by(&converter, 0));
    for name in ["a", "b"] {
        server
            .create(&path("v1beta1", ""), &body("v1beta1", name, &json!({"title": "t"})))
            .await;
    }
    let finalizers = r#"{"metadata":{"finalizers":["example.com/x"]}}"#;
    let held = server.patch("merge", &path("v1beta1", "/b"), finalizers).await;
    assert_eq!(held.code, 200, "{}", held.text);
    for rest in ["/a", "/a?dryRun=All", "/a?gracePeriodSeconds=0", "/b", ""] {
        let refused = server.delete_remotely(&path("v1", rest)).await;
        assert_eq!(refused.refusal(), (500, "no ink".to_owned()), "{rest}");
    }
    let left = server.get(&path("v1beta1", "")).await;
    assert_eq!(left.names(), ["a", "b"]);
    assert_eq!(left.at("/items/1/metadata/deletionTimestamp"), Value::Null);
    let missing = server.delete_remotely(&path("v1", "/c")).await;
    assert_eq!(missing.code, 404, "{}", missing.text);

    let calls = converter.0.load(Ordering::Relaxed);
    let marked = server.delete_remotely(&path("v1beta1", "/b")).await;
    assert_eq!(marked.code, 200, "{}", marked.text);
    let emptied = server.delete_remotely(&path("v1beta1", "")).await;
    assert_eq!(emptied.code, 200, "{}", emptied.text);
    assert_eq!(server.get(&path("v1beta1", "")).await.names(), ["b"]);
    assert_eq!(
        converter.0.load(Ordering::Relaxed),
        calls,
        "nothing had to be converted"
    );
}

#[tokio::test]
async fn a_collection_is_converted_once_to_be_deleted() {
    let converter = Arc::<Renames>::default();
    let server = serve(memory(), &converted_by(&converter, 0));
    for name in ["a", "b"] {
        server
            .create(&path("v1beta1", ""), &body("v1beta1", name, &json!({"title": "t"})))
            .await;
    }
    let deleted = server.delete_remotely(&path("v1", "")).await;
    assert_eq!(deleted.code, 200, "{}", deleted.text);
    assert_eq!(deleted.at("/items/1/spec"), json!({"heading": "t"}));
    assert_eq!(converter.documents.load(Ordering::Relaxed), 2);
    assert!(server.get(&path("v1beta1", "")).await.names().is_empty());
}

#[tokio::test]
async fn a_name_that_is_taken_is_found_without_a_conversion() {
    let storage = memory();
    let server = serve(storage.clone(), &converted(0));
    let object = body("v1beta1", "a", &json!({"title": "t"}));
    server.create(&path("v1beta1", ""), &object).await;
    let converter = Arc::<Renames>::default();
    let server = serve(storage, &converted_by(&converter, 1));
    let taken = server.post(&path("v1", ""), &body("v1", "a", &json!({}))).await;
    assert_eq!(taken.code, 409, "{}", taken.text);
    assert_eq!(converter.blocking.load(Ordering::Relaxed), 0);
}
