//! Clusters of three members that are killed and cut off while a store writes and watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use planesmith_store::conformance::{REGISTRY, THINGS, WordIndex, key, put, show};
use planesmith_store::{
    AlarmKind, Collection, EventKind, Expect, Revision, Storage, StorageOptions, WatchFrom, Watcher, WriteError,
};
use planesmith_store_etcd::{Config, Etcd};
use tokio::task::JoinHandle;

use crate::server::{Cluster, is_skipped};

const WRITERS: usize = 4;

/// Time after which a cluster counts as lost.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn connect(config: &Config) -> (Storage, Arc<Collection>) {
    let etcd = Etcd::connect(config).await.unwrap();
    let options = StorageOptions::default();
    let storage = Storage::connect(Arc::new(etcd), REGISTRY, &options).await.unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    (storage, things)
}

/// Writers that each count up the number in a key of their own.
struct Load {
    storage: Storage,
    acknowledged: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
    writers: Vec<JoinHandle<Vec<(u64, Revision)>>>,
    watcher: Watcher,
}

impl Load {
    async fn start(config: &Config) -> Self {
        let (storage, things) = connect(config).await;
        let watcher = things.watch(THINGS, WatchFrom::Now).unwrap();
        let acknowledged = Arc::new(AtomicU64::new(0));
        let end = Arc::new(AtomicBool::new(false));
        let writer = |number: usize| {
            let things = Arc::clone(&things);
            let (acknowledged, end) = (Arc::clone(&acknowledged), Arc::clone(&end));
            tokio::spawn(write(things, format!("w{number}"), acknowledged, end))
        };
        let writers = (0..WRITERS).map(writer).collect();
        Self {
            storage,
            acknowledged,
            end,
            writers,
            watcher,
        }
    }

    /// Waits until writes that begin now are acknowledged.
    async fn goes_on(&self) {
        let begin = Instant::now();
        let goal = self.acknowledged.load(Ordering::SeqCst) + 20;
        while self.acknowledged.load(Ordering::SeqCst) < goal {
            assert!(
                begin.elapsed() < TIMEOUT,
                "writes do not go on: {:?}",
                self.storage.health()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        eprintln!("writes went on after {:?}", begin.elapsed());
    }

    /// Ends the writers, and checks that the watcher saw everything once, and every acknowledged write at its revision.
    async fn check(mut self) {
        self.end.store(true, Ordering::SeqCst);
        let mut written = Vec::new();
        for writer in self.writers {
            written.push(writer.await.unwrap());
        }
        tokio::time::timeout(TIMEOUT, self.storage.fresh(TIMEOUT))
            .await
            .unwrap()
            .unwrap();
        let mut seen = vec![Vec::new(); WRITERS];
        let mut last = Revision::ZERO;
        let mut events = Vec::new();
        while let more = self.watcher.try_next().unwrap()
            && !more.is_empty()
        {
            events.extend(more);
        }
        for event in events {
            let shown = show(event.entry());
            assert!(event.revision() > last, "{shown} after {last}");
            last = event.revision();
            assert_ne!(event.kind(), EventKind::Delete, "{shown}");
            let (name, number) = shown.split_once('@').unwrap().0.split_once('=').unwrap();
            let writer: usize = name[1..].parse().unwrap();
            seen[writer].push((number.parse::<u64>().unwrap(), last));
        }
        for (seen, written) in seen.iter().zip(&written) {
            let numbers: Vec<_> = seen.iter().map(|(number, _)| *number).collect();
            assert_eq!(
                numbers,
                (1..=numbers.len() as u64).collect::<Vec<_>>(),
                "each write is seen once"
            );
            for write in written {
                assert!(seen.contains(write), "{write:?} was acknowledged");
            }
        }
    }
}

/// Counts up the number in a key until the end. Returns the acknowledged numbers with their revisions.
async fn write(
    things: Arc<Collection>,
    name: String,
    acknowledged: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
) -> Vec<(u64, Revision)> {
    let mut written = Vec::new();
    let mut number = 1;
    let mut expect = Expect::Absent;
    while !end.load(Ordering::SeqCst) {
        match put(&things, &name, &number.to_string(), expect).await {
            Ok(done) => {
                written.push((number, done.revision()));
                acknowledged.fetch_add(1, Ordering::SeqCst);
                expect = Expect::Revision(done.revision());
                number += 1;
            }
            // An earlier attempt was performed: its answer was lost.
            Err(WriteError::Conflict { current }) => {
                let current = current.expect("nobody deletes");
                assert!(
                    show(&current).starts_with(&format!("{name}={number}@")),
                    "{}",
                    show(&current)
                );
                expect = Expect::Revision(current.revision());
                number += 1;
            }
            Err(WriteError::Unavailable(_) | WriteError::OutcomeUnknown(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    written
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_write_is_lost_when_members_are_killed() {
    if is_skipped() {
        return;
    }
    let mut cluster = Cluster::start(3).await;
    let load = Load::start(&cluster.config()).await;
    for number in 0..3 {
        load.goes_on().await;
        cluster.members[number].kill();
        load.goes_on().await;
        cluster.members[number].restart();
        cluster.joined(number).await;
    }
    load.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_that_are_silent_are_left() {
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start(3).await;
    let load = Load::start(&cluster.config()).await;
    for number in 0..3 {
        load.goes_on().await;
        cluster.members[number].pause(true);
        load.goes_on().await;
        cluster.members[number].pause(false);
        cluster.joined(number).await;
    }
    load.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_go_on_without_a_server_and_an_alarm_tells() {
    if is_skipped() {
        return;
    }
    let mut cluster = Cluster::start(1).await;
    let (storage, things) = connect(&cluster.config()).await;
    let written = put(&things, "a", "one", Expect::Absent).await.unwrap();
    storage.probe().await.unwrap();
    cluster.members[0].kill();
    let begin = Instant::now();
    while storage.alarms().is_empty() {
        assert!(begin.elapsed() < TIMEOUT, "there is no alarm");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(storage.alarms()[0].kind, AlarmKind::Disconnected);
    assert!(matches!(storage.health(), Err(WriteError::Unavailable(_))));
    assert_eq!(
        things.get(&key("a")).map(|entry| entry.revision()),
        Some(written.revision())
    );
    let refused = tokio::join!(put(&things, "a", "two", Expect::Any), storage.probe());
    assert!(matches!(refused.0, Err(WriteError::Unavailable(_))), "{:?}", refused.0);
    assert!(refused.1.is_err());
    cluster.members[0].restart();
    while !storage.alarms().is_empty() {
        assert!(begin.elapsed() < TIMEOUT, "the alarm stays");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let next = put(&things, "a", "two", Expect::Revision(written.revision()))
        .await
        .unwrap();
    assert_eq!(show(&next.entry), format!("a=two@{}", next.revision()));
}
