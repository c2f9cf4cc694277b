//! The embedded store in real folders: the scenarios of every backend, and crashes.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod authors;
mod conformance;
mod crash;
mod cut;
mod damage;
mod descriptors;
mod disk_faults;
mod full_disk;
mod inspection;
mod loss;
mod settling_threshold;
mod transfer;
mod upgrade;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use planesmith_store::conformance::{THINGS, WordIndex, set};
use planesmith_store::{Collection, Revision, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

/// A log in `folder` that settles as much as possible, so that there is a state to damage.
fn eager(folder: &Path) -> SledLog {
    SledLog::open(folder).unwrap().settling_at(0)
}

/// Opens the store in `folder`, and the collection that the tests use.
fn open(folder: &Path, options: &StorageOptions) -> (Storage, Arc<Collection>) {
    let storage = Storage::open(eager(folder), options).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    (storage, things)
}

/// Writes 12 MB to three keys, of which the first 8 MB fill a journal file, and waits until `log` has settled what it
/// settles.
async fn fill(log: SledLog) {
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    let word = "x".repeat(1_000_000);
    for number in 0..12 {
        set(&things, &format!("n{}", number % 3), &word).await;
    }
    storage.compact(Revision(12));
    storage.compacted(Revision(12)).await;
    storage.close().await;
}

/// The file that is removed when the first full file is settled.
fn first_file(folder: &Path) -> PathBuf {
    folder.join("journal/0000000001.journal")
}
