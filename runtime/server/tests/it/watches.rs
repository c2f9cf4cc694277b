//! Watches: their start, events and end.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::Request;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use planesmith_access::authorization::AlwaysAllow;
use planesmith_server::stores::StoresOptions;
use planesmith_store::{MemoryLog, Storage, StorageOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::harness::{NOTES, Server, text};

/// Requests the initial objects first.
const STREAMED: &str = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

/// A running watch.
pub(crate) struct Watch {
    body: Body,
    rest: String,
}

impl Watch {
    async fn open(server: &Server, query: &str) -> Self {
        Self::of(server, &format!("{NOTES}?watch=1&{query}")).await
    }

    pub(crate) async fn of(server: &Server, path: &str) -> Self {
        Self::accepting("*/*", server, path).await
    }

    async fn accepting(accept: &str, server: &Server, path: &str) -> Self {
        let request = Request::builder().uri(path).header("accept", accept);
        let (response, _) = server.open(request.body(Body::empty()).expect("legal")).await;
        assert_eq!(response.status(), 200);
        Self {
            body: response.into_body(),
            rest: String::new(),
        }
    }

    /// The next event; `None` when the watch has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.rest.split_once('\n') {
                let event = serde_json::from_str(line).expect("one event per line");
                self.rest = rest.to_owned();
                return Some(event);
            }
            let frame = self.body.frame().await?.expect("a watch does not fail");
            let data = frame.into_data().expect("only data");
            self.rest.push_str(std::str::from_utf8(&data).expect("text"));
        }
    }

    /// The next events as `TYPE name`.
    async fn next_events(&mut self, count: usize) -> Vec<String> {
        let mut next_events = Vec::new();
        for _ in 0..count {
            let event = self.next().await.expect("the watch goes on");
            next_events.push(format!(
                "{} {}",
                text(&event, "/type"),
                text(&event, "/object/metadata/name")
            ));
        }
        next_events
    }
}

#[tokio::test]
async fn a_watch_starts_with_the_state_or_after_a_version() {
    let server = Server::with_places().await;
    let first = server.note("a", "{}").await;
    let version = text(&first, "/metadata/resourceVersion");
    server
        .patch("merge", &format!("{NOTES}/a"), r#"{"data":{"n":"2"}}"#)
        .await;
    server.note("b", "{}").await;
    server.delete(&format!("{NOTES}/b"), "").await;
    let mut after = Watch::open(&server, &format!("resourceVersion={version}")).await;
    assert_eq!(after.next_events(3).await, ["MODIFIED a", "ADDED b", "DELETED b"]);
    let mut state = Watch::open(&server, "").await;
    assert_eq!(state.next_events(1).await, ["ADDED a"]);
    server.note("c", "{}").await;
    assert_eq!(after.next_events(1).await, ["ADDED c"]);
    assert_eq!(state.next_events(1).await, ["ADDED c"]);
}

#[tokio::test]
async fn expensive_frames_are_made_beside_the_connection() {
    let server = Server::with_places().await;
    server.note("large", "{}").await;
    let large = json!({"data": {"text": "x".repeat(100_000)}}).to_string();
    server.patch("merge", &format!("{NOTES}/large"), &large).await;
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    for (accept, is_expensive) in [("application/json", false), (table, true)] {
        let request = Request::builder()
            .uri(format!("{NOTES}?watch=1"))
            .header("accept", accept);
        let (response, _) = server.open(request.body(Body::empty()).expect("legal")).await;
        let mut body = response.into_body();
        for (what, name) in [("ADDED", "large"), ("MODIFIED", "large")] {
            let at_once = body.frame().now_or_never();
            assert_eq!(at_once.is_none(), is_expensive, "{accept}: {what}");
            let frame = match at_once {
                Some(frame) => frame,
                None => body.frame().await,
            };
            let frame = frame.expect("the watch goes on").expect("it does not fail");
            let event: Value = serde_json::from_slice(frame.data_ref().expect("only data")).expect("one event");
            assert_eq!(text(&event, "/type"), what);
            let object = ["/object/metadata/name", "/object/rows/0/object/metadata/name"];
            assert!(
                object.iter().any(|site| event.pointer(site) == Some(&name.into())),
                "{event}"
            );
            let label = json!({"metadata": {"labels": {"for": accept.len().to_string()}}});
            server
                .patch("merge", &format!("{NOTES}/large"), &label.to_string())
                .await;
        }
    }
}

/// The frames that are buffered for a connection that accepts everything and sends nothing.
fn unsent(watch: &mut Watch) -> Vec<Bytes> {
    let frames = std::iter::from_fn(|| watch.body.frame().now_or_never().flatten());
    frames
        .map(|frame| frame.expect("a watch does not fail").into_data().expect("only data"))
        .collect()
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_little_and_misses_nothing() {
    const EVENTS: usize = 200;
    let server = Server::with_places().await;
    let mut watches = [Watch::open(&server, "").await, Watch::open(&server, "").await];
    let text = "x".repeat(2_000);
    for number in 0..EVENTS {
        let labels = json!({});
        server.note(&format!("n{number:03}"), &labels.to_string()).await;
        let data = json!({"data": {"text": text}}).to_string();
        server.patch("merge", &format!("{NOTES}/n{number:03}"), &data).await;
    }
    let held = watches.each_mut().map(unsent);
    let sites = held
        .each_ref()
        .map(|held| held.iter().map(|chunk| chunk.as_ptr()).collect::<Vec<_>>());
    for held in &held {
        let bytes: usize = held.iter().map(Bytes::len).sum();
        assert!((2_000..=64 << 10).contains(&bytes), "{bytes} bytes wait");
    }
    assert_eq!(
        sites[0][1..],
        sites[1][1..],
        "what waits behind the first chunk is the same memory for all"
    );
    for (watch, held) in watches.iter_mut().zip(held) {
        for chunk in held {
            watch.rest.push_str(std::str::from_utf8(&chunk).expect("text"));
        }
        for number in 0..EVENTS {
            let expected = ["ADDED", "MODIFIED"].map(|kind| format!("{kind} n{number:03}"));
            assert_eq!(watch.next_events(2).await, expected);
        }
    }
}

#[tokio::test]
async fn a_streamed_list_ends_with_a_bookmark() {
    let server = Server::with_places().await;
    server.note("a", "{}").await;
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watch = Watch::open(&server, query).await;
    assert_eq!(watch.next_events(1).await, ["ADDED a"]);
    let bookmark = watch.next().await.expect("the bookmark");
    let object = json!({
        "kind": "Note", "apiVersion": "v1",
        "metadata": {
            "resourceVersion": server.storage.revision().to_string(),
            "annotations": { "k8s.io/initial-events-end": "true" },
        },
    });
    assert_eq!(bookmark, json!({ "type": "BOOKMARK", "object": object }));
    server.note("b", "{}").await;
    assert_eq!(watch.next_events(1).await, ["ADDED b"]);
}

#[tokio::test]
async fn a_streamed_list_has_tables_up_to_its_bookmark() {
    let server = Server::with_places().await;
    server.note("a", "{}").await;
    let streamed = format!("{NOTES}?watch=1&allowWatchBookmarks=true&{STREAMED}");
    let mut watch = Watch::accepting("application/json;as=Table;v=v1;g=meta.k8s.io", &server, &streamed).await;
    for (kind, row) in [
        ("ADDED", "/object/rows/0/object/metadata/name"),
        (
            "BOOKMARK",
            "/object/rows/0/object/metadata/annotations/k8s.io~1initial-events-end",
        ),
    ] {
        let event = watch.next().await.expect("an event");
        assert_eq!(text(&event, "/type"), kind);
        assert_eq!(text(&event, "/object/kind"), "Table");
        assert!(event.pointer(row).is_some(), "{event}");
    }
}

#[tokio::test]
async fn an_object_that_leaves_a_selection_is_deleted_as_it_was() {
    let server = Server::with_places().await;
    let mut watch = Watch::open(&server, "labelSelector=on%3Dyes").await;
    server.note("a", r#"{"on":"yes"}"#).await;
    server.note("other", "{}").await;
    let path = format!("{NOTES}/a");
    server.patch("merge", &path, r#"{"data":{"n":"2"}}"#).await;
    let left = server
        .patch("merge", &path, r#"{"metadata":{"labels":{"on":"no"}}}"#)
        .await;
    server.patch("merge", &path, r#"{"data":{"n":"4"}}"#).await;
    server
        .patch("merge", &path, r#"{"metadata":{"labels":{"on":"yes"}}}"#)
        .await;
    server.delete(&path, "").await;
    assert_eq!(watch.next_events(2).await, ["ADDED a", "MODIFIED a"]);
    let gone = watch.next().await.expect("an event");
    assert_eq!(text(&gone, "/type"), "DELETED");
    assert_eq!(text(&gone, "/object/metadata/labels/on"), "yes");
    assert_eq!(text(&gone, "/object/metadata/resourceVersion"), left.version());
    assert_eq!(watch.next_events(2).await, ["ADDED a", "DELETED a"]);
}

#[tokio::test]
async fn one_object_is_watched_by_its_name() {
    let server = Server::with_places().await;
    let mut by_field = Watch::open(&server, "fieldSelector=metadata.name%3Dab").await;
    server.note("abc", "{}").await;
    server.note("ab", "{}").await;
    assert_eq!(by_field.next_events(1).await, ["ADDED ab"]);
}

#[tokio::test]
async fn a_version_that_is_gone_is_an_error_event() {
    let server = Server::with_places().await;
    server.note("a", "{}").await;
    server.note("b", "{}").await;
    server.storage.compact(server.storage.revision());
    while server.storage.oldest() < server.storage.revision() {
        tokio::task::yield_now().await;
    }
    let mut watch = Watch::open(&server, "resourceVersion=1").await;
    let event = watch.next().await.expect("the error");
    assert_eq!(
        (text(&event, "/type"), event["object"]["code"].clone()),
        ("ERROR".to_owned(), json!(410))
    );
    assert_eq!(text(&event, "/object/reason"), "Expired");
    assert_eq!(watch.next().await, None);
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=1000000";
    let event = Watch::open(&server, query).await.next().await.expect("the error");
    assert_eq!(event["object"]["code"], json!(504));
}

#[tokio::test]
async fn a_watch_lasts_as_long_as_the_server_says() {
    let server = Server::with_options(StoresOptions {
        min_watch: Duration::from_millis(1),
        ..StoresOptions::new(Arc::new(AlwaysAllow))
    });
    server.create("/api/v1/sites", r#"{"metadata":{"name":"a"}}"#).await;
    let mut watch = Watch::open(&server, "").await;
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn a_stopping_server_waits_for_its_watches() {
    let server = Server::start().with_watch_grace(Duration::from_secs(3600));
    let mut watches = [Watch::open(&server, "").await, Watch::open(&server, "").await];
    server.stop.now();
    for watch in &mut watches {
        assert!(server.stop.watches_ended().now_or_never().is_none());
        assert_eq!(watch.next().await, None);
    }
    drop(watches);
    server.stop.watches_ended().await;
}

#[tokio::test]
async fn bookmarks_come_regularly_once_there_is_something_to_tell() {
    let server = Server::with_options(StoresOptions {
        bookmark_interval: Duration::from_millis(50),
        ..StoresOptions::new(Arc::new(AlwaysAllow))
    });
    server.create("/api/v1/sites", r#"{"metadata":{"name":"a"}}"#).await;
    server.note("a", "{}").await;
    // The first client has the note itself, and the other has a revision that does not exist yet.
    let known = server.storage.revision().to_string();
    let mut watch = Watch::open(&server, &format!("resourceVersion={known}&allowWatchBookmarks=true")).await;
    let mut early = Watch::open(
        &server,
        "resourceVersion=1000&allowWatchBookmarks=true&timeoutSeconds=3",
    )
    .await;
    let mut silent = Watch::open(&server, "resourceVersion=1&timeoutSeconds=-1").await;
    assert_eq!(early.next().await, None, "no event precedes its revision");
    assert_eq!(text(&silent.next().await.expect("a change"), "/type"), "ADDED");
    assert_eq!(silent.next().await, None);
    server.note("b", "{}").await;
    let newest = server.storage.revision().to_string();
    assert_eq!(
        watch.next_events(4).await,
        ["ADDED b", "BOOKMARK ", "BOOKMARK ", "BOOKMARK "]
    );
    let bookmark = watch.next().await.expect("one more");
    assert_eq!(text(&bookmark, "/object/metadata/resourceVersion"), newest);
}

#[tokio::test]
async fn the_last_bookmark_comes_before_the_end() {
    let server = Server::with_places().await;
    let first = server.note("a", "{}").await;
    let version = text(&first, "/metadata/resourceVersion");
    let open = async |seconds: u64| {
        let query = format!("resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds={seconds}");
        Watch::open(&server, &query).await
    };
    let (mut watch, mut short) = (open(3).await, open(2).await);
    let begin = tokio::time::Instant::now();
    server.note("b", "{}").await;
    assert_eq!(watch.next_events(2).await, ["ADDED b", "BOOKMARK "]);
    assert!(begin.elapsed() < Duration::from_secs(2));
    assert_eq!(watch.next().await, None);
    assert_eq!(short.next_events(1).await, ["ADDED b"]);
    assert_eq!(short.next().await, None);
}

#[tokio::test]
async fn the_longest_timeout_is_as_good_as_none() {
    let server = Server::with_places().await;
    let mut watch = Watch::open(&server, "timeoutSeconds=9223372036854775807").await;
    server.note("a", "{}").await;
    assert_eq!(watch.next_events(1).await, ["ADDED a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_watcher_sees_every_change_in_order() {
    let server = std::sync::Arc::new(Server::with_places().await);
    let mut watches = Vec::new();
    for _ in 0..20 {
        watches.push(Watch::open(&server, "").await);
    }
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let server = std::sync::Arc::clone(&server);
            tokio::spawn(async move {
                for round in 0..25 {
                    server.note(&format!("w{writer}-{round}"), "{}").await;
                }
            })
        })
        .collect();
    let mut first = None;
    for watch in &mut watches {
        let mut versions = Vec::new();
        for _ in 0..100 {
            let event = watch.next().await.expect("the watch goes on");
            versions.push(
                text(&event, "/object/metadata/resourceVersion")
                    .parse::<u64>()
                    .expect("a number"),
            );
        }
        assert!(versions.is_sorted_by(|left, right| left < right));
        assert_eq!(first.get_or_insert_with(|| versions.clone()), &versions);
    }
    for writer in writers {
        writer.await.expect("no writer failed");
    }
}

#[tokio::test]
async fn a_watch_that_asks_for_a_list_ends_where_the_first_object_would_be() {
    let server = Server::with_places().await;
    let list = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    server.note("a", "{}").await;
    let answer = server.get_as(list, &format!("{NOTES}?watch=1")).await;
    assert_eq!((answer.code, answer.text.as_str()), (200, ""));
    let gone = server
        .get_as(list, &format!("{NOTES}?watch=1&resourceVersion=1000000&{STREAMED}"))
        .await;
    assert_eq!(gone.at("/object/code"), 504, "a failure is an event");
}

#[tokio::test]
async fn parameters_are_looked_at_before_the_form_of_the_stream() {
    let server = Server::with_places().await;
    let answer = server
        .get_as("application/yaml", &format!("{NOTES}?watch=1&sendInitialEvents=true"))
        .await;
    assert_eq!(answer.code, 422);
    let answer = server.get_as("application/yaml", &format!("{NOTES}?watch=1")).await;
    assert_eq!(answer.code, 406);
}

#[tokio::test]
async fn a_watch_goes_on_in_web_socket() {
    let server = std::sync::Arc::new(Server::with_places().await);
    server.note("a", "{}").await;
    let (mut client, connection) = tokio::io::duplex(64 << 10);
    let service = service_fn(move |request: Request<Incoming>| {
        let server = std::sync::Arc::clone(&server);
        async move { Ok::<_, Infallible>(server.open(request.map(Body::new)).await.0) }
    });
    tokio::spawn(
        http1::Builder::new()
            .serve_connection(TokioIo::new(connection), service)
            .with_upgrades(),
    );
    let head = format!(
        "GET {NOTES}?watch=1&timeoutSeconds=1 HTTP/1.1\r\nhost: here\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
         origin: http://here\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    client.write_all(head.as_bytes()).await.expect("there is room");
    let mut said = Vec::new();
    client.read_to_end(&mut said).await.expect("the watch ends");
    let end = said.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
    let (head, frames) = said.split_at(end);
    assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(head));
    let length = usize::from(u16::from_be_bytes([frames[2], frames[3]]));
    assert_eq!(frames[..2], [0x81, 126], "one text of middle length");
    let event: Value = serde_json::from_slice(&frames[4..4 + length]).expect("an event");
    assert_eq!(
        (text(&event, "/type"), text(&event, "/object/metadata/name")),
        ("ADDED".to_owned(), "a".to_owned())
    );
    assert_eq!(frames[4 + length..], [0x88, 2, 3, 0xe8]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn changes_that_are_not_in_memory_are_watched_and_listed_like_others() {
    let options = StorageOptions {
        // Objects that resemble each other take little of it.
        history_bytes: 12_000,
        ..StorageOptions::default()
    };
    let storage = Storage::open(MemoryLog::new().keeping_history(), &options).expect("memory opens");
    let server = Server::on(storage.clone(), StoresOptions::new(Arc::new(AlwaysAllow)));
    server.create("/api/v1/sites", r#"{"metadata":{"name":"a"}}"#).await;
    for name in ["a", "b", "c"] {
        server.note(name, r#"{"on":"yes"}"#).await;
    }
    let first = server.get(&format!("{NOTES}?limit=1")).await;
    let version = first.version();
    let path = format!("{NOTES}/a");
    let left = r#"{"metadata":{"labels":{"on":"no"}}}"#;
    let left = server.patch("merge", &path, left).await;
    for number in 0..100 {
        let data = json!({"data": {"text": "x".repeat(500), "n": number.to_string()}}).to_string();
        server.patch("merge", &format!("{NOTES}/b"), &data).await;
    }
    server.delete(&format!("{NOTES}/c"), "").await;
    let is_spilled = || storage.stats().collections.values().any(|stats| stats.spilled > 50);
    while !is_spilled() {
        tokio::task::yield_now().await;
    }

    let mut watch = Watch::open(&server, &format!("labelSelector=on%3Dyes&resourceVersion={version}")).await;
    let gone = watch.next().await.expect("an event");
    assert_eq!(text(&gone, "/type"), "DELETED");
    assert_eq!(text(&gone, "/object/metadata/labels/on"), "yes");
    assert_eq!(text(&gone, "/object/metadata/resourceVersion"), left.version());
    let next_events = watch.next_events(101).await;
    assert!(next_events[..100].iter().all(|next_events| next_events == "MODIFIED b"));
    assert_eq!(next_events[100], "DELETED c");
    let mut all = Watch::open(&server, &format!("resourceVersion={version}")).await;
    assert_eq!(all.next_events(2).await, ["MODIFIED a", "MODIFIED b"]);

    let token = text(&first.json(), "/metadata/continue");
    let rest = server.get(&format!("{NOTES}?continue={token}")).await;
    assert_eq!(
        (rest.names(), rest.version()),
        (vec!["b".to_owned(), "c".to_owned()], version)
    );
    assert_eq!(rest.at("/items/0/data/n"), "b", "as it was");
    let selected = format!("{NOTES}?labelSelector=on%3Dyes&limit=2&continue={token}");
    assert_eq!(server.get(&selected).await.names(), ["b", "c"]);
}
