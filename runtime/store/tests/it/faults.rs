//! A disk that refuses writes: only durable writes are visible, and writing recovers by itself.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use planesmith_store::conformance::{THINGS, WordIndex, delete, draft, key, put, read, set, show_events};
use planesmith_store::log::{Batch, Loader, Log, LogError, Opened};
use planesmith_store::{
    Collection, Expect, ListQuery, ManualClock, MemoryLog, Op, Revision, Row, Storage, StorageOptions, WatchFrom,
    WriteError,
};

/// A backend whose disk can be full, and whose appends can be blocked.
#[derive(Clone, Default)]
struct FaultyLog {
    inner: MemoryLog,
    full: Arc<AtomicBool>,
    gate: Arc<(Mutex<Gate>, Condvar)>,
    /// True if there is no space, except for the reserve.
    short: Arc<AtomicBool>,
    /// Size of an object that the disk refuses, although the lack of space is not detected before; 0: there is space
    /// for any.
    too_large: Arc<AtomicUsize>,
    /// Blocks compaction.
    blocked: Arc<AtomicBool>,
}

#[derive(Default)]
struct Gate {
    closed: bool,
    waiting: bool,
}

impl FaultyLog {
    fn fill(&self, full: bool) {
        self.full.store(full, Ordering::SeqCst);
    }

    fn close_gate(&self, closed: bool) {
        self.gate.0.lock().unwrap().closed = closed;
        self.gate.1.notify_all();
    }

    /// Returns when an append waits at the closed gate.
    fn append_waits(&self) {
        let gate = self.gate.0.lock().unwrap();
        drop(self.gate.1.wait_while(gate, |gate| !gate.waiting).unwrap());
    }
}

impl Log for FaultyLog {
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
        self.inner.load(loader)
    }

    fn append(&self, batch: &Batch) -> Result<(), LogError> {
        let mut gate = self.gate.0.lock().unwrap();
        gate.waiting = true;
        self.gate.1.notify_all();
        let mut gate = self.gate.1.wait_while(gate, |gate| gate.closed).unwrap();
        gate.waiting = false;
        if self.full.load(Ordering::SeqCst) {
            return Err(LogError::Full);
        }
        let too_large = self.too_large.load(Ordering::SeqCst);
        if too_large > 0 && batch.records.iter().any(|record| record.bytes.len() >= too_large) {
            return Err(LogError::Full);
        }
        self.inner.append(batch)
    }

    fn compact(&self, floor: Revision) -> Result<bool, LogError> {
        while self.blocked.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.inner.compact(floor)
    }

    fn has_room(&self, _bytes: u64) -> bool {
        !self.short.load(Ordering::SeqCst)
    }

    fn size(&self) -> u64 {
        self.inner.size()
    }
}

fn open(log: &FaultyLog, clock: &Arc<ManualClock>) -> (Storage, Arc<Collection>) {
    let options = StorageOptions {
        clock: Arc::clone(clock) as Arc<ManualClock>,
        ..StorageOptions::default()
    };
    let storage = Storage::open(log.clone(), &options).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    (storage, things)
}

#[tokio::test]
async fn a_refused_batch_is_not_shown_and_uses_its_revisions_up() {
    let (log, clock) = (FaultyLog::default(), Arc::new(ManualClock::new(1)));
    let (storage, things) = open(&log, &clock);
    let mut watcher = things.watch(THINGS, WatchFrom::Now).unwrap();
    set(&things, "a", "one").await;

    log.fill(true);
    for expect in [Expect::Any, Expect::Absent] {
        assert!(matches!(put(&things, "b", "one", expect).await, Err(WriteError::Full)));
    }
    assert!(matches!(delete(&things, "a", Expect::Any).await, Err(WriteError::Full)));
    assert!(matches!(storage.health(), Err(WriteError::Full)));
    let stale = put(&things, "a", "two", Expect::Absent).await;
    assert!(
        matches!(stale, Err(WriteError::Conflict { .. })),
        "what needs no disk is still answered"
    );
    assert!(things.get(&key("b")).is_none());
    assert_eq!(storage.revision(), Revision(1));

    log.fill(false);
    set(&things, "b", "two").await;
    assert_eq!(show_events(&read(&mut watcher, 2).await), ["+a=one@1", "+b=two@5"]);
    storage.close().await;
    let (storage, things) = open(&log, &clock);
    assert_eq!(storage.revision(), Revision(5));
    assert!(things.get(&key("a")).is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_with_a_refused_write_is_refused_too() {
    let (log, clock) = (FaultyLog::default(), Arc::new(ManualClock::new(1)));
    let (_storage, things) = open(&log, &clock);
    log.close_gate(true);
    let spawn = |name: &'static str| {
        let things = Arc::clone(&things);
        tokio::spawn(async move { put(&things, name, "one", Expect::Absent).await })
    };
    let first = spawn("first");
    log.append_waits();
    // Both in one batch: the second conflicts with the first, which is not performed.
    let mut writes = [
        Box::pin(put(&things, "a", "one", Expect::Absent)),
        Box::pin(put(&things, "a", "two", Expect::Absent)),
    ];
    for write in &mut writes {
        tokio::select! { biased; _ = write => panic!("the gate is closed"), () = std::future::ready(()) => {} }
    }
    log.fill(true);
    log.close_gate(false);
    for write in writes {
        assert!(matches!(write.await, Err(WriteError::Full)));
    }
    assert!(matches!(first.await.unwrap(), Err(WriteError::Full)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lack_of_space_that_nobody_measured_refuses_growth_and_nothing_else() {
    let (log, clock) = (FaultyLog::default(), Arc::new(ManualClock::new(1)));
    let (storage, things) = open(&log, &clock);
    for name in ["a", "b", "c"] {
        set(&things, name, "word").await;
    }
    log.close_gate(true);
    let first = {
        let things = Arc::clone(&things);
        tokio::spawn(async move { put(&things, "first", "one", Expect::Absent).await })
    };
    log.append_waits();
    // One batch: some writes need space, and one conflicts with a write that needs it.
    let long = "x".repeat(500);
    let mut writes = [
        Box::pin(put(&things, "new", &long, Expect::Absent)) as std::pin::Pin<Box<dyn Future<Output = _>>>,
        Box::pin(put(&things, "new", "short", Expect::Absent)),
        Box::pin(delete(&things, "a", Expect::Present)),
        Box::pin(put(&things, "b", "less", Expect::Present)),
        Box::pin(put(&things, "c", &long, Expect::Present)),
        Box::pin(delete(&things, "c", Expect::Present)),
        Box::pin(put(&things, "b", "last", Expect::Absent)),
    ];
    for write in &mut writes {
        tokio::select! { biased; _ = write => panic!("the gate is closed"), () = std::future::ready(()) => {} }
    }
    log.too_large.store(500, Ordering::SeqCst);
    log.close_gate(false);
    let mut answers = Vec::new();
    for write in writes {
        answers.push(match write.await {
            Ok(_) => "written",
            Err(WriteError::Full) => "full",
            Err(WriteError::Conflict { .. }) => "conflict",
            Err(other) => panic!("{other}"),
        });
    }
    let expected = ["full", "full", "written", "written", "full", "full", "conflict"];
    assert_eq!(answers, expected);
    first.await.unwrap().unwrap();
    let names = || ["a", "b", "c", "new"].map(|name| things.get(&key(name)).is_some());
    assert_eq!(names(), [false, true, true, false]);
    let visible = storage.revision();
    storage.close().await;
    let (storage, reopened) = open(&log, &clock);
    assert_eq!(
        storage.revision(),
        visible,
        "no revision that was shown is given away again"
    );
    let all = |things: &Collection| things.list(&ListQuery::all(THINGS)).unwrap().entries.len();
    assert_eq!(all(&reopened), all(&things));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_visible_before_it_is_durable() {
    let (log, clock) = (FaultyLog::default(), Arc::new(ManualClock::new(1)));
    let (storage, things) = open(&log, &clock);
    let mut watcher = things.watch(THINGS, WatchFrom::Now).unwrap();
    log.close_gate(true);
    let write = {
        let things = Arc::clone(&things);
        tokio::spawn(async move { put(&things, "a", "one", Expect::Absent).await })
    };
    log.append_waits();
    assert!(things.get(&key("a")).is_none());
    assert!(watcher.try_next().unwrap().is_empty());
    assert_eq!(storage.revision(), Revision::ZERO);
    assert!(!write.is_finished());
    log.close_gate(false);
    assert_eq!(write.await.unwrap().unwrap().revision(), Revision(1));
    assert!(things.get(&key("a")).is_some());
}

#[tokio::test]
async fn without_space_objects_shrink_and_go_but_do_not_grow() {
    let (log, clock) = (FaultyLog::default(), Arc::new(ManualClock::new(1)));
    let (storage, things) = open(&log, &clock);
    for name in ["a", "b", "c"] {
        set(
            &things,
            name,
            "a word of some length, longer than what counts as the same",
        )
        .await;
    }
    log.short.store(true, Ordering::SeqCst);
    let long = "x".repeat(200);
    for (name, expect) in [("new", Expect::Absent), ("a", Expect::Present)] {
        assert!(matches!(put(&things, name, &long, expect).await, Err(WriteError::Full)));
    }
    let before = storage.revision();
    assert!(put(&things, "a", "short", Expect::Present).await.is_ok());
    assert!(
        put(
            &things,
            "b",
            "a word of some length, longer than what counts as one more",
            Expect::Any
        )
        .await
        .is_ok()
    );
    assert!(delete(&things, "c", Expect::Any).await.is_ok());
    assert_eq!(
        storage.revision(),
        Revision(before.0 + 3),
        "what is refused takes no revision"
    );
    log.short.store(false, Ordering::SeqCst);
    assert!(put(&things, "new", &long, Expect::Absent).await.is_ok());
}

#[tokio::test]
async fn history_is_bounded_while_the_backend_hangs() {
    let log = FaultyLog::default();
    let options = StorageOptions {
        history_bytes: 100_000,
        ..StorageOptions::default()
    };
    let storage = Storage::open(log.clone(), &options).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    let word = "x".repeat(1000);
    log.blocked.store(true, Ordering::SeqCst);
    let mut last = Revision::ZERO;
    for _ in 0..1000 {
        last = set(&things, "a", &word).await.revision();
    }
    let forgotten = async {
        while storage.oldest() < Revision(last.0 - 100) || things.stats().events > 100 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let forgotten = tokio::time::timeout(Duration::from_secs(10), forgotten).await;
    let events = things.stats().events;
    log.blocked.store(false, Ordering::SeqCst);
    assert!(forgotten.is_ok(), "{events} events are kept");
}

#[tokio::test]
async fn an_expiry_that_was_refused_is_tried_again() {
    let (log, clock) = (FaultyLog::default(), Arc::new(ManualClock::new(1)));
    let (storage, things) = open(&log, &clock);
    let mut watcher = things.watch(THINGS, WatchFrom::Now).unwrap();
    let ttl = Some(Duration::from_secs(10));
    let op = Op::Put {
        key: key("a"),
        draft: draft("one"),
        row: Row::default(),
        expect: Expect::Any,
        ttl,
    };
    things.write(op).await.unwrap();
    assert_eq!(read(&mut watcher, 1).await.len(), 1);
    log.fill(true);
    log.close_gate(true);
    clock.advance(Duration::from_secs(10));
    storage.recheck_clock();
    log.append_waits();
    log.close_gate(false);
    // After the expiry in the queue: when this is answered, the expiry was refused.
    assert!(matches!(
        put(&things, "b", "one", Expect::Any).await,
        Err(WriteError::Full)
    ));
    assert!(things.get(&key("a")).is_some());
    log.fill(false);
    clock.advance(Duration::from_secs(10));
    storage.recheck_clock();
    assert_eq!(read(&mut watcher, 1).await[0].revision(), storage.revision());
    assert!(things.get(&key("a")).is_none());
}
