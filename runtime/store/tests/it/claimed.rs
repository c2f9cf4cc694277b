//! Collections of a store in which others write: opened while changes arrive.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use planesmith_store::backend::{Backend as _, Lifetime, StateWrite};
use planesmith_store::conformance::SeveralWriters;
use planesmith_store::{Expect, Indexer, ListQuery, Reason, Revision, Row, Storage, StorageOptions, Transformer as _};

use crate::transformed::Shift;

const PREFIX: &str = "/things/";

/// The longest time that a test waits.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Indexes the first state when the test says so.
struct Gate {
    entered: SyncSender<()>,
    opened: Mutex<Receiver<()>>,
}

impl Indexer for Gate {
    fn row(&self, _: &str, _: &[u8]) -> Row {
        // The other side is dropped after the first state.
        if self.entered.try_send(()).is_ok() {
            let _ = self.opened.lock().unwrap().recv_timeout(TIMEOUT);
        }
        Row::default()
    }
}

/// Returns an indexer that waits at the first state, the receiver that knows when it does, and the sender that lets it go on.
fn gate() -> (Arc<Gate>, Receiver<()>, SyncSender<()>) {
    let (entered, is_entered) = sync_channel(1);
    let (open, opened) = sync_channel(1);
    let opened = Mutex::new(opened);
    (Arc::new(Gate { entered, opened }), is_entered, open)
}

async fn put(backend: &SeveralWriters, name: &str, value: &'static str) -> Revision {
    put_bytes(backend, &format!("{PREFIX}{name}"), value.into()).await
}

async fn put_bytes(backend: &SeveralWriters, key: &str, value: Vec<u8>) -> Revision {
    let write = StateWrite {
        key: key.into(),
        value: Some(value.into()),
        expect: Expect::Any,
        lifetime: Lifetime::Unlimited,
    };
    backend.write(write).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_applied_while_a_collection_decodes_its_states() {
    let backend = SeveralWriters::default();
    put(&backend, "changed", r#"{"v":1}"#).await;
    put(&backend, "same", r#"{"v":1}"#).await;
    let connected = Arc::new(backend.clone());
    let storage = Storage::connect(connected, "/", &StorageOptions::default())
        .await
        .unwrap();
    let (gate, is_entered, open) = gate();
    let opening = {
        let storage = storage.clone();
        std::thread::spawn(move || storage.collection(PREFIX, gate))
    };
    is_entered.recv_timeout(TIMEOUT).unwrap();
    put(&backend, "changed", r#"{"v":2}"#).await;
    let newest = put(&backend, "new", r#"{"v":2}"#).await;
    assert!(storage.wait_for(newest, TIMEOUT).await, "the changes are not applied");
    drop(is_entered);
    open.send(()).unwrap();
    let things = opening.join().unwrap();
    let states = || {
        let entries = things.list(&ListQuery::all(PREFIX)).unwrap().entries;
        let state = |entry: &Arc<planesmith_store::Entry>| {
            format!("{} {}", entry.key(), String::from_utf8_lossy(&entry.bytes()))
        };
        entries.iter().map(state).collect::<Vec<_>>()
    };
    assert_eq!(
        states(),
        [
            r#"/things/changed {"v":2}"#,
            r#"/things/new {"v":2}"#,
            r#"/things/same {"v":1}"#
        ]
    );
    let later = put(&backend, "same", r#"{"v":3}"#).await;
    assert!(storage.wait_for(later, TIMEOUT).await);
    assert_eq!(states()[2], r#"/things/same {"v":3}"#);
    storage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn states_that_are_decoded_while_the_key_changes_are_written_anew() {
    const KEY: &str = "/secrets/a";
    let backend = SeveralWriters::default();
    let shift = Shift::new(1, &[1, 2]);
    let sealed = shift.seal(KEY, br#"{"v":1}"#, Reason::Update).unwrap().unwrap();
    put_bytes(&backend, KEY, sealed).await;
    let options = StorageOptions {
        transformers: Some(Arc::new(shift.clone())),
        ..StorageOptions::default()
    };
    let storage = Storage::connect(Arc::new(backend), "/", &options).await.unwrap();
    let (gate, is_entered, open) = gate();
    let opening = {
        let storage = storage.clone();
        std::thread::spawn(move || storage.collection("/secrets/", gate))
    };
    is_entered.recv_timeout(TIMEOUT).unwrap();
    shift.writer.store(2, Ordering::Relaxed);
    storage.transform_again();
    drop(is_entered);
    open.send(()).unwrap();
    opening.join().unwrap();
    assert_eq!(storage.stale_objects().left(), 1);
    storage.close().await;
}
