//! The embedded store in real folders: the scenarios of every backend, and what crashes leave.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod conformance;
mod crash;
mod cut;
mod damage;
mod full_disk;
mod patience;
mod power;

use std::path::Path;
use std::sync::Arc;

use planesmith_store::conformance::{THINGS, WordIndex};
use planesmith_store::{Collection, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

/// Opens the store in `folder`, and the collection that the tests use.
fn open(folder: &Path, options: &StorageOptions) -> (Storage, Arc<Collection>) {
    // Settles all that it can, so that there is something to damage.
    let log = SledLog::open(folder).unwrap().settling_at(0);
    let storage = Storage::open(log, options).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    (storage, things)
}
