//! The duties beyond those of every backend: expiry, compaction in turns, a full store, and many keys.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use planesmith_store::backend::{Backend as _, FeedError, Refusal, StateWrite};
use planesmith_store::{AlarmKind, Draft, Expect, NoIndex, Op, Revision, Row, Storage, StorageOptions, WriteError};
use planesmith_store_etcd::{Config, Etcd};

use crate::server::{Cluster, is_skipped};

const TIMEOUT: Duration = Duration::from_secs(60);

fn key(name: &str) -> Arc<str> {
    format!("/registry/things/{name}").into()
}

fn put(name: &str, size: usize, ttl: Option<u64>) -> StateWrite {
    StateWrite {
        key: key(name),
        value: Some(vec![b'a'; size].into()),
        expect: Expect::Any,
        lifetime: ttl.map(Duration::from_secs).into(),
    }
}

async fn connect(config: Config) -> Etcd {
    Etcd::connect(&config).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_share_leases_and_expire() {
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start(1).await;
    let config = Config {
        lease_objects: 4,
        ..cluster.config()
    };
    let etcd = connect(config).await;
    for number in 0..8 {
        etcd.write(put(&format!("n{number}"), 1, Some(100))).await.unwrap();
    }
    let leases = cluster.post("/v3/lease/leases", "{}").matches("\"ID\"").count();
    assert_eq!(leases, 2, "four objects each");
    let before = etcd.write(put("short", 1, Some(1))).await.unwrap();
    let mut feed = etcd.follow("/registry/", before).await.unwrap();
    let delivery = tokio::time::timeout(TIMEOUT, feed.next()).await.unwrap().unwrap();
    assert_eq!(
        (&*delivery.changes[0].key, &delivery.changes[0].value),
        (&*key("short"), &None)
    );
    // An update without a TTL ends the expiry: the object leaves its lease.
    etcd.write(put("n0", 1, None)).await.unwrap();
    let read = cluster.post("/v3/kv/range", r#"{"key": "L3JlZ2lzdHJ5L3RoaW5ncy9uMA=="}"#);
    assert!(read.contains("mod_revision") && !read.contains("lease"), "{read}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rewritten_object_keeps_its_lease() {
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start(1).await;
    let etcd = Arc::new(connect(cluster.config()).await);
    let storage = Storage::connect(etcd, "/registry/", &StorageOptions::default())
        .await
        .unwrap();
    let things = storage.collection("/registry/things/", Arc::new(NoIndex));
    let draft = || Draft::gapless(br#"{"a":1}"#.to_vec());
    for (name, path, ttl) in [
        (
            "expires",
            "L3JlZ2lzdHJ5L3RoaW5ncy9leHBpcmVz",
            Some(Duration::from_secs(500)),
        ),
        ("stays", "L3JlZ2lzdHJ5L3RoaW5ncy9zdGF5cw==", None),
    ] {
        let create = Op::Put {
            key: key(name),
            draft: draft(),
            row: Row::default(),
            expect: Expect::Absent,
            ttl,
        };
        let created = things.write(create).await.unwrap().revision();
        let lease = || {
            let read = cluster.post("/v3/kv/range", &format!(r#"{{"key": "{path}"}}"#));
            let lease = read
                .split_once(r#""lease":""#)
                .map(|(_, rest)| rest.split('"').next().unwrap().to_owned());
            (read.contains(&format!(r#""mod_revision":"{}""#, created.0)), lease)
        };
        let before = lease();
        assert!(before.0 && before.1.is_some() == ttl.is_some(), "{before:?}");
        let rewrite = |revision| Op::Rewrite {
            key: key(name),
            draft: draft(),
            row: Row::default(),
            revision,
        };
        things.write(rewrite(created)).await.unwrap();
        assert_eq!(lease(), (false, before.1), "{name}");
        let stale = things.write(rewrite(created)).await;
        assert!(matches!(stale, Err(WriteError::Conflict { .. })), "{stale:?}");
    }
    storage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_compact_in_turns() {
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start(1).await;
    let config = Config {
        compaction_interval: Duration::from_millis(100),
        ..cluster.config()
    };
    let (one, _other) = (connect(config.clone()).await, connect(config).await);
    let first = one.write(put("a", 1, None)).await.unwrap();
    let last = one.write(put("a", 2, None)).await.unwrap();
    let begin = Instant::now();
    // The revision of a turn is forgotten with the next one; nothing is written meanwhile but the count of turns.
    loop {
        assert!(begin.elapsed() < TIMEOUT, "nothing was compacted");
        let mut feed = one.follow("/registry/", first).await.unwrap();
        let delivery = tokio::time::timeout(Duration::from_millis(200), feed.next()).await;
        if matches!(delivery, Ok(Err(FeedError::Compacted))) {
            break;
        }
    }
    let read = cluster.post("/v3/kv/range", r#"{"key": "Y29tcGFjdF9yZXZfa2V5"}"#);
    assert!(
        read.contains("\"version\""),
        "kube-apiserver counts in the same key: {read}"
    );
    let mut states = Vec::new();
    one.load("/registry/", &mut |page| states.extend(page)).await.unwrap();
    assert_eq!((states.len(), states[0].revision), (1, last));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_store_refuses_writes_and_tells() {
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start_with(1, &[("quota-backend-bytes", "8000000")], None).await;
    let etcd = connect(cluster.config()).await;
    let mut refused = None;
    // The quota is compared with what the last commit left on disk.
    for number in 0..500 {
        if let Err(refusal) = etcd.write(put(&format!("n{number}"), 1_000_000, None)).await {
            refused = Some(refusal);
            break;
        }
    }
    assert_eq!(refused, Some(Refusal::Full));
    let begin = Instant::now();
    while etcd.alarms().is_empty() {
        assert!(begin.elapsed() < TIMEOUT, "there is no alarm");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(etcd.alarms()[0].kind, AlarmKind::NoSpace);
    assert!(etcd.size() > 1_000_000);
    etcd.health().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_keys_are_read_at_one_revision() {
    const BATCHES: u64 = 4;
    const BATCH: u64 = 900;
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start(1).await;
    let config = Config {
        prefix: "/other/cluster".to_owned(),
        ..cluster.config()
    };
    let etcd = connect(config).await;
    let mut last = Revision::ZERO;
    for batch in 0..BATCHES {
        let changes = (0..BATCH).map(|number| (key(&format!("{batch}-{number:04}")), Some(Bytes::from_static(b"x"))));
        last = etcd.write_all(changes.collect()).await.unwrap();
    }
    let elsewhere = connect(cluster.config()).await;
    elsewhere.write(put("elsewhere", 1, None)).await.unwrap();
    let mut pages = Vec::new();
    let revision = etcd.load("/registry/", &mut |page| pages.push(page)).await.unwrap();
    assert_eq!(revision, last.next());
    assert!(pages.len() > 1);
    let states: Vec<_> = pages.into_iter().flatten().collect();
    assert_eq!(states.len() as u64, BATCHES * BATCH);
    assert!(
        states.is_sorted_by(|one, next| one.key < next.key),
        "each key is there once"
    );
    assert!(states.iter().all(|state| state.key.starts_with("/registry/things/")));
}
