//! Many watchers cost little and miss nothing.

use std::sync::Arc;

use planesmith_store::conformance::{THINGS, WordIndex, set};
use planesmith_store::{MemoryLog, Storage, StorageOptions, WatchFrom};

const WATCHERS: usize = 2000;
const EVENTS: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_watchers_get_every_rapid_event() {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    let watchers: Vec<_> = (0..WATCHERS)
        .map(|_| {
            let mut watcher = things.watch(THINGS, WatchFrom::Now).unwrap();
            tokio::spawn(async move {
                let mut last = 0;
                while last < EVENTS as u64 {
                    for event in watcher.next().await.unwrap() {
                        assert_eq!(event.revision().0, last + 1);
                        last += 1;
                    }
                }
                assert!(watcher.try_next().unwrap().is_empty());
            })
        })
        .collect();
    assert_eq!(things.stats().watchers, WATCHERS);
    for number in 0..EVENTS {
        set(&things, &format!("n{}", number % 10), "one").await;
    }
    for watcher in watchers {
        watcher.await.unwrap();
    }
    assert_eq!(things.stats().watchers, 0);
}
