//! The point at which history is settled.

use planesmith_store_sled::SledLog;

use crate::{fill, first_file};

#[tokio::test]
async fn little_history_stays_in_the_journal() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fill(SledLog::open(&folder).unwrap()).await;
    assert!(first_file(&folder).exists());
}

#[tokio::test]
async fn as_much_as_was_asked_for_is_settled() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fill(SledLog::open(&folder).unwrap().settling_at(4 << 20)).await;
    assert!(!first_file(&folder).exists());
}
