//! Moving the content of a store into another folder, and settling on request.

use std::path::Path;

use planesmith_store::conformance::{key, set};
use planesmith_store::log::Log;
use planesmith_store::{
    Fidelity, LoadedSource, LogTarget, Revision, RevisionShift, StorageOptions, WatchFrom, transfer,
};
use planesmith_store_sled::SledLog;

use crate::open;

fn load(folder: &Path) -> LoadedSource {
    let log = SledLog::open(folder).unwrap();
    let source = LoadedSource::of_log(&log, "test", 0, &mut |_, _| Ok(())).unwrap();
    log.close().unwrap();
    source
}

#[tokio::test]
async fn a_restored_folder_has_all_objects_and_no_history() {
    let temporary = tempfile::tempdir().unwrap();
    let (from, to) = (temporary.path().join("from"), temporary.path().join("to"));
    let (storage, things) = open(&from, &StorageOptions::default());
    let word = "x".repeat(20_000);
    for number in 0..100 {
        set(&things, &format!("n{number}"), &word).await;
    }
    storage.close().await;
    let shift = RevisionShift::for_restore(Revision(100), 0);
    // Files of 200 KB, of which some are settled while others are written.
    let log = SledLog::open(&to).unwrap().settling_at(500_000).rolling_at(200_000);
    let mut target = LogTarget::new(&log).unwrap();
    let ledger = transfer(&mut load(&from), &mut target, shift, &mut |_| Ok(())).unwrap();
    log.close().unwrap();
    drop(log);
    assert!(
        ledger
            .verify(&mut load(&to), Fidelity::Exact, &mut |_| Ok(()))
            .unwrap()
            .is_none()
    );

    let (storage, copies) = open(&to, &StorageOptions::default());
    let newest = shift.of(Revision(100));
    assert_eq!((storage.revision(), storage.oldest()), (newest, newest));
    assert_eq!(copies.stats().entries, 100);
    let copy = copies.get(&key("n7")).unwrap();
    assert_eq!(copy.revision(), Revision(RevisionShift::STEP + 8));
    assert!(copies.watch("", WatchFrom::After(Revision(100))).is_err());
    let written = set(&copies, "n7", "new").await;
    assert!(written.revision() > newest);
    storage.close().await;
}

#[tokio::test]
async fn settling_on_request_frees_what_it_can_however_little_that_is() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let log = SledLog::open(&folder).unwrap();
    let storage = planesmith_store::Storage::open(log, &StorageOptions::default()).unwrap();
    let things = storage.collection(
        planesmith_store::conformance::THINGS,
        std::sync::Arc::new(planesmith_store::conformance::WordIndex),
    );
    let word = "x".repeat(100_000);
    for _ in 0..40 {
        set(&things, "one", &word).await;
    }
    let before = storage.stats().disk_bytes;
    assert!(before > 4_000_000, "{before}");
    assert!(storage.compact_fully(storage.revision()).await);
    let after = storage.stats().disk_bytes;
    assert!(after < 1_500_000, "{after}");
    // Nothing is left to settle.
    assert!(storage.compact_fully(storage.revision()).await);
    set(&things, "two", &word).await;
    storage.close().await;
    let (_storage, things) = open(&folder, &StorageOptions::default());
    assert_eq!(things.stats().entries, 2);
}
