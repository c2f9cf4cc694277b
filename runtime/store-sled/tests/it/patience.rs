//! When history is worth settling.

use std::path::Path;
use std::sync::Arc;

use planesmith_store::conformance::{THINGS, WordIndex, set};
use planesmith_store::{Revision, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

/// Writes 12 MB over three keys, of which the first 8 MB fill a journal file, and lets everything be settled that is worth it.
/// Says whether that file is gone.
async fn settles(folder: &Path, log: SledLog) -> bool {
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    let word = "x".repeat(1_000_000);
    for number in 0..12 {
        set(&things, &format!("n{}", number % 3), &word).await;
    }
    storage.compact(Revision(12));
    storage.compacted(Revision(12)).await;
    storage.close().await;
    !folder.join("journal/0000000001.journal").exists()
}

#[tokio::test]
async fn little_history_stays_in_the_journal() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    assert!(!settles(&folder, SledLog::open(&folder).unwrap()).await);
}

#[tokio::test]
async fn as_much_as_was_asked_for_is_settled() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let log = SledLog::open(&folder).unwrap().settling_at(4 << 20);
    assert!(settles(&folder, log).await);
}
