//! Two servers on one store.

use std::sync::Arc;
use std::time::Duration;

use planesmith_access::authorization::AlwaysAllow;
use planesmith_machinery::object::Resource as _;
use planesmith_server::stores::StoresOptions;
use planesmith_store::backend::{
    Backend, BackendError, BackendFuture, Delivery, Feed, FeedError, Refusal, State, StateWrite,
};
use planesmith_store::conformance::{REGISTRY, SeveralWriters};
use planesmith_store::{Revision, Storage, StorageOptions, StoredForm};
use serde_json::json;
use tokio::sync::watch;

use crate::harness::{NOTES, SHELVES, Server, text};
use crate::kinds::Note;
use crate::watches::Watch;

/// A backend whose feeds deliver only when their progress is requested, or the same server writes: its server knows
/// nothing of the writes of others until it reads.
struct Lagging {
    backend: SeveralWriters,
    progress_requests: watch::Sender<()>,
}

struct LaggingFeed {
    feed: Box<dyn Feed>,
    progress_requests: watch::Receiver<()>,
}

impl Feed for LaggingFeed {
    fn next(&mut self) -> BackendFuture<'_, Result<Delivery, FeedError>> {
        Box::pin(async {
            if self.progress_requests.changed().await.is_err() {
                return Err(FeedError::Lost("the backend is gone".into()));
            }
            self.feed.next().await
        })
    }
}

impl Backend for Lagging {
    fn load<'a>(
        &'a self,
        prefix: &'a str,
        page: &'a mut (dyn FnMut(Vec<State>) + Send),
    ) -> BackendFuture<'a, Result<Revision, BackendError>> {
        self.backend.load(prefix, page)
    }

    fn follow<'a>(&'a self, prefix: &'a str, after: Revision) -> BackendFuture<'a, Result<Box<dyn Feed>, FeedError>> {
        let progress_requests = self.progress_requests.subscribe();
        Box::pin(async move {
            let feed = self.backend.follow(prefix, after).await?;
            Ok(Box::new(LaggingFeed {
                feed,
                progress_requests,
            }) as Box<dyn Feed>)
        })
    }

    fn write(&self, write: StateWrite) -> BackendFuture<'_, Result<Revision, Refusal>> {
        Box::pin(async {
            let written = self.backend.write(write).await;
            let _ = self.request_progress().await;
            written
        })
    }

    fn newest(&self) -> BackendFuture<'_, Result<Revision, BackendError>> {
        self.backend.newest()
    }

    fn request_progress(&self) -> BackendFuture<'_, Result<(), BackendError>> {
        Box::pin(async {
            self.backend.request_progress().await?;
            self.progress_requests.send_replace(());
            Ok(())
        })
    }

    fn compact(&self, revision: Revision) -> BackendFuture<'_, Result<(), BackendError>> {
        self.backend.compact(revision)
    }

    fn health(&self) -> BackendFuture<'_, Result<(), BackendError>> {
        self.backend.health()
    }

    fn size(&self) -> u64 {
        self.backend.size()
    }
}

/// Two servers on one backend, with the sites `a` and `b`. The second one lags behind.
struct Two {
    backend: SeveralWriters,
    one: Server,
    late: Server,
}

impl Two {
    async fn start() -> Self {
        let backend = SeveralWriters::default();
        let one = server(Arc::new(backend.clone())).await;
        for name in ["a", "b"] {
            let site = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
            one.create("/api/v1/sites", &site).await;
        }
        let late = server(Arc::new(Lagging {
            backend: backend.clone(),
            progress_requests: watch::Sender::default(),
        }));
        let late = late.await;
        Self { backend, one, late }
    }

    /// The stored bytes of a key.
    async fn stored(&self, key: &str) -> Vec<u8> {
        let mut found = Vec::new();
        let mut page = |states: Vec<State>| {
            for state in states.into_iter().filter(|state| *state.key == *key) {
                found = state.value.to_vec();
            }
        };
        self.backend
            .load(REGISTRY, &mut page)
            .await
            .expect("the backend answers");
        found
    }
}

async fn server(backend: Arc<dyn Backend>) -> Server {
    let options = StorageOptions::default();
    let storage = Storage::connect(backend, REGISTRY, &options)
        .await
        .expect("the store opens");
    let options = StoresOptions {
        freshness_wait: Duration::from_secs(60),
        ..StoresOptions::new(Arc::new(AlwaysAllow))
    };
    Server::on(storage, options)
}

fn data(name: &str, value: &str) -> String {
    json!({"metadata": {"name": name}, "data": {"n": value}}).to_string()
}

#[tokio::test]
async fn reads_as_of_now_see_what_another_server_has_written() {
    let two = Two::start().await;
    let watched = Watch::of(&two.late, &format!("{NOTES}?watch=1&resourceVersion=0")).await;
    two.one.note("a", "{}").await;
    let path = format!("{NOTES}/a");
    assert_eq!(
        two.late.get(&format!("{path}?resourceVersion=0")).await.code,
        404,
        "the cache is behind"
    );
    assert!(
        two.late
            .get(&format!("{NOTES}?resourceVersion=0"))
            .await
            .names()
            .is_empty()
    );
    assert_eq!(two.late.get(&path).await.at("/data/n"), "a");

    two.one.patch("merge", &path, r#"{"data":{"n":"2"}}"#).await;
    assert_eq!(
        two.late.get(&format!("{path}?resourceVersion=0")).await.at("/data/n"),
        "a"
    );
    let list = two.late.get(NOTES).await;
    assert_eq!(list.at("/items/0/data/n"), "2");
    assert_eq!(list.version(), two.one.get(NOTES).await.version());

    two.one.patch("merge", &path, r#"{"data":{"n":"3"}}"#).await;
    let mut now = Watch::of(&two.late, &format!("{NOTES}?watch=1")).await;
    let first = now.next().await.expect("the state");
    assert_eq!(text(&first, "/object/data/n"), "3");

    let newest = two.one.patch("merge", &path, r#"{"data":{"n":"4"}}"#).await.version();
    let known = two.late.get(&format!("{path}?resourceVersion={newest}")).await;
    assert_eq!(known.at("/data/n"), "4");

    let mut watched = watched;
    for value in ["a", "2", "3", "4"] {
        let event = watched.next().await.expect("the watch goes on");
        assert_eq!(text(&event, "/object/data/n"), value);
    }
}

#[tokio::test]
async fn a_late_cache_refuses_no_write() {
    let two = Two::start().await;
    let path = |name: &str| format!("{NOTES}/{name}");
    let created = two.one.note("a", "{}").await;
    let unknown = two.late.patch("merge", &path("a"), r#"{"data":{"n":"1"}}"#).await;
    assert_eq!(
        (unknown.code, unknown.at("/data/n")),
        (200, json!("1")),
        "{}",
        unknown.text
    );

    // The client has the newest version from the other server.
    let newest = two.one.patch("merge", &path("a"), r#"{"data":{"n":"2"}}"#).await;
    let mut changed = newest.json();
    changed["data"]["n"] = json!("3");
    let put = two.late.put(&path("a"), &changed.to_string()).await;
    assert_eq!((put.code, put.at("/data/n")), (200, json!("3")), "{}", put.text);
    let stale = two.late.put(&path("a"), &created.to_string()).await;
    assert_eq!(stale.code, 409, "{}", stale.text);

    // Compared with the cache, this changes nothing.
    two.one.patch("merge", &path("a"), r#"{"data":{"n":"4"}}"#).await;
    let same = two.late.patch("merge", &path("a"), r#"{"data":{"n":"3"}}"#).await;
    assert_eq!(same.at("/data/n"), "3");
    assert_eq!(two.one.get(&path("a")).await.at("/data/n"), "3");

    let newest = two
        .one
        .patch("merge", &path("a"), r#"{"data":{"n":"5"}}"#)
        .await
        .version();
    let options = json!({"preconditions": {"resourceVersion": newest}}).to_string();
    let deleted = two.late.delete(&path("a"), &options).await;
    assert_eq!(deleted.code, 200, "{}", deleted.text);
    let again = two.one.delete(&path("a"), "").await;
    assert_eq!(again.code, 404, "{}", again.text);

    two.one.note("b", "{}").await;
    assert_eq!(two.late.delete(&path("b"), "").await.code, 200);
    two.one.note("c", "{}").await;
    let note = json!({"apiVersion": "v1", "kind": "Note", "metadata": {"name": "c"}, "data": {"n": "c"}});
    let path = format!("{}?fieldManager=m", path("c"));
    let applied = two.late.apply(&path, &note.to_string()).await;
    assert_eq!(applied.code, 200, "{}", applied.text);
}

#[tokio::test]
async fn creations_are_decided_by_the_store() {
    let two = Two::start().await;
    two.one.note("a", "{}").await;
    let dry = two.late.post(&format!("{NOTES}?dryRun=All"), &data("a", "2")).await;
    assert_eq!(dry.code, 409, "{}", dry.text);
    two.one.note("b", "{}").await;
    let taken = two.late.post(NOTES, &data("b", "2")).await;
    assert_eq!(taken.code, 409, "{}", taken.text);
    two.one.delete(&format!("{NOTES}/b"), "").await;
    let free = two.late.post(NOTES, &data("b", "2")).await;
    assert_eq!(free.code, 201, "{}", free.text);
    // A plugin looks for the namespace in the cache.
    two.one.create("/api/v1/sites", r#"{"metadata":{"name":"new"}}"#).await;
    let there = two.late.post("/api/v1/namespaces/new/notes", &data("n", "1")).await;
    assert_eq!(there.code, 201, "{}", there.text);
    let nowhere = two.late.post("/api/v1/namespaces/nowhere/notes", &data("n", "1")).await;
    assert_eq!(nowhere.code, 404, "{}", nowhere.text);
}

#[tokio::test]
async fn a_lost_answer_is_no_reason_to_write_again() {
    let two = Two::start().await;
    two.one.note("a", "{}").await;
    two.backend.lose_next_answer();
    let add = r#"[{"op":"test","path":"/data/n","value":"a"},{"op":"replace","path":"/data/n","value":"b"}]"#;
    let lost = two.late.patch("json", &format!("{NOTES}/a"), add).await;
    assert_eq!(lost.code, 500, "{}", lost.text);
    assert_eq!(two.late.get(&format!("{NOTES}/a")).await.at("/data/n"), "b");
}

#[tokio::test]
async fn objects_are_stored_as_kube_apiserver_stores_them() {
    let two = Two::start().await;
    let shelf = r#"{"metadata":{"name":"s"},"spec":{"colour":"red"}}"#;
    let created = two.one.create(SHELVES, shelf).await;
    assert_eq!(two.late.get(&format!("{SHELVES}/s")).await.json(), created);
    let stored = two.stored("/registry/test.example.com/shelves/a/s").await;
    assert!(stored.starts_with(b"k8s\0") || stored.starts_with(b"{\"kind\":\"Shelf\""));
    let version = text(&created, "/metadata/resourceVersion");
    assert!(
        !String::from_utf8_lossy(&stored).contains("resourceVersion"),
        "{version}"
    );

    two.backend
        .write_all(&[("/registry/notes/a/odd".into(), Some("no object"))]);
    let unreadable = two.late.get(&format!("{NOTES}/odd")).await;
    assert_eq!(unreadable.code, 500, "{}", unreadable.text);
    let notes = two.late.stores.resource(Note::RESOURCE);
    let entry = notes.collection().get("/registry/notes/a/odd").expect("it is there");
    assert_eq!(entry.stored_form(), StoredForm::Unreadable);
}
