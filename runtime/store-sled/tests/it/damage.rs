//! What cannot be read is refused, with an error that says where and what to do.

use std::os::unix::fs::FileExt;
use std::path::Path;

use planesmith_store::conformance::set;
use planesmith_store::log::{Batch, Loader, Log, Record};
use planesmith_store::{Revision, StorageOptions};
use planesmith_store_sled::SledLog;

use crate::open;

/// Loads and forgets.
struct Nobody;

impl Loader for Nobody {
    fn state(&mut self, _record: Record) {}
    fn batch(&mut self, _batch: Batch) {}
}

/// Why the store in `folder` does not open.
fn refusal(folder: &Path) -> String {
    let loaded = SledLog::open(folder).and_then(|log| log.load(&mut Nobody));
    loaded.expect_err("the store does not open").to_string()
}

/// A store with a few writes, some of them settled.
async fn filled(folder: &Path) {
    let (storage, things) = open(folder, &StorageOptions::default());
    let word = "x".repeat(1_000_000);
    for number in 0..12 {
        set(&things, &format!("n{}", number % 3), &word).await;
    }
    storage.compact(Revision(12));
    storage.compacted(Revision(12)).await;
    storage.close().await;
    assert!(
        !folder.join("journal/0000000001.journal").exists(),
        "the first file is settled"
    );
}

#[tokio::test]
async fn a_folder_in_use_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (storage, _things) = open(&folder, &StorageOptions::default());
    let expected = format!(
        "{} is used by another process; stop it, or choose another folder",
        folder.display()
    );
    assert_eq!(refusal(&folder), expected);
    storage.close().await;
    assert!(SledLog::open(&folder).is_ok(), "closing lets go of the folder");
}

#[tokio::test]
async fn a_newer_format_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    filled(&folder).await;
    let newest = folder.join("journal/0000000002.journal");
    let file = std::fs::OpenOptions::new().write(true).open(&newest).unwrap();
    file.write_all_at(&[2], 8).unwrap();
    let advice = "this program knows 1; run the version of the program that wrote it, or choose another folder";
    assert_eq!(
        refusal(&folder),
        format!("{} has the store format 2, {advice}", newest.display())
    );
    std::fs::write(folder.join("format"), "planesmith-store 7\n").unwrap();
    assert_eq!(
        refusal(&folder),
        format!("{} has the store format 7, {advice}", folder.display())
    );
}

#[tokio::test]
async fn a_damaged_journal_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    filled(&folder).await;
    let advice = "restore the store's folder from a backup, or move it away to start empty";

    // A broken frame in front of a whole one is no unfinished write.
    let newest = folder.join("journal/0000000002.journal");
    let file = std::fs::OpenOptions::new().write(true).open(&newest).unwrap();
    let original = std::fs::read(&newest).unwrap();
    file.write_all_at(b"y", 500_000).unwrap();
    let what = "is damaged: the frame at byte 32 is broken";
    assert_eq!(refusal(&folder), format!("{} {what}; {advice}", newest.display()));

    file.write_all_at(b"no journal", 0).unwrap();
    let what = "is damaged: it does not start like a journal";
    assert_eq!(refusal(&folder), format!("{} {what}; {advice}", newest.display()));

    std::fs::write(&newest, &original).unwrap();
    std::fs::copy(&newest, folder.join("journal/0000000003.journal")).unwrap();
    assert!(refusal(&folder).contains("it says that it is file 2"));

    std::fs::rename(
        folder.join("journal/0000000003.journal"),
        folder.join("journal/0000000004.journal"),
    )
    .unwrap();
    assert!(refusal(&folder).contains("is damaged"));

    std::fs::remove_file(folder.join("journal/0000000004.journal")).unwrap();
    std::fs::remove_file(&newest).unwrap();
    let journal = folder.join("journal");
    assert_eq!(
        refusal(&folder),
        format!("{} is damaged: the newest file is missing; {advice}", journal.display())
    );
}

#[tokio::test]
async fn a_damaged_state_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    filled(&folder).await;
    let state = folder.join("state/00000000000000000008.state");
    let original = std::fs::read(&state).unwrap();
    for end in [
        0,
        20,
        32,
        40,
        100,
        original.len() / 2,
        original.len() - 33,
        original.len() - 1,
    ] {
        std::fs::write(&state, &original[..end]).unwrap();
        assert!(
            refusal(&folder).contains("state/00000000000000000008.state"),
            "cut at {end}"
        );
    }
    for position in [
        3,
        17,
        30,
        36,
        60,
        original.len() / 2,
        original.len() - 40,
        original.len() - 5,
    ] {
        let mut changed = original.clone();
        changed[position] ^= 1;
        std::fs::write(&state, &changed).unwrap();
        assert!(refusal(&folder).contains("is damaged"), "changed at {position}");
    }
    std::fs::remove_file(&state).unwrap();
    assert!(refusal(&folder).contains("it goes on after revision 8, but 0 is the last known"));
    std::fs::write(&state, &original).unwrap();
    let (_storage, things) = open(&folder, &StorageOptions::default());
    assert_eq!(things.stats().entries, 3);
}

#[tokio::test]
async fn what_an_interrupted_settling_leaves_is_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (storage, things) = open(&folder, &StorageOptions::default());
    let word = "x".repeat(1_000_000);
    for number in 0..12 {
        set(&things, &format!("n{}", number % 3), &word).await;
    }
    storage.close().await;
    let journal = folder.join("journal/0000000001.journal");
    let settled = std::fs::read(&journal).unwrap();
    let (storage, _things) = open(&folder, &StorageOptions::default());
    storage.compact(Revision(12));
    storage.compacted(Revision(12)).await;
    storage.close().await;
    // As if the program had ended before it removed what is settled, and while it settled more.
    std::fs::write(&journal, settled).unwrap();
    let unfinished = folder.join("state/00000000000000000012.new");
    std::fs::write(&unfinished, b"half").unwrap();
    let older = folder.join("state/00000000000000000001.state");
    std::fs::write(&older, b"older").unwrap();
    let (storage, things) = open(&folder, &StorageOptions::default());
    assert_eq!((things.stats().entries, storage.revision()), (3, Revision(12)));
    assert!(!journal.exists() && !unfinished.exists() && !older.exists());
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    std::fs::create_dir(temporary.path().join("journal")).unwrap();
    assert!(refusal(temporary.path()).contains("it has data, but no file `format`"));
}
