//! Damaged data is refused, with an error that names the file and the next step.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use planesmith_store::conformance::set;
use planesmith_store::log::{Batch, Loader, Log, Record};
use planesmith_store::{Revision, StorageOptions};
use planesmith_store_sled::SledLog;

use crate::{eager, fill, first_file, open};

/// Discards the loaded content.
struct Nobody;

impl Loader for Nobody {
    fn state(&mut self, _record: Record) {}
    fn batch(&mut self, _batch: Batch) {}
}

/// The error with which the store in `folder` does not open.
pub(crate) fn refusal(folder: &Path) -> String {
    let loaded = SledLog::open(folder).and_then(|log| log.load(&mut Nobody));
    loaded.expect_err("the store does not open").to_string()
}

/// A store with a few writes, some of them settled.
async fn filled(folder: &Path) {
    fill(eager(folder)).await;
    assert!(!first_file(folder).exists(), "the first file is settled");
}

/// The only generation in `folder`.
fn generation(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder.join("state")).unwrap();
    let mut folders = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let generation = folders.next().unwrap();
    assert_eq!(folders.next(), None);
    generation
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
    let mut newer = std::fs::read(&newest).unwrap();
    newer[8] = 3;
    let checksum = crc32fast::hash(&[&newer[..12], &newer[16..64]].concat());
    newer[12..16].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(&newest, newer).unwrap();
    let advice = "this program knows 2; run the version of the program that wrote it, or choose another folder";
    assert_eq!(
        refusal(&folder),
        format!("{} has the store format 3, {advice}", newest.display())
    );
    std::fs::write(folder.join("format"), "planesmith-store 7\n").unwrap();
    assert_eq!(
        refusal(&folder),
        format!(
            "{} has the store format 7, {}",
            folder.display(),
            advice.replace("knows 2", "knows 4")
        )
    );
}

#[tokio::test]
async fn a_damaged_journal_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    filled(&folder).await;
    let newest = folder.join("journal/0000000002.journal");
    let file = std::fs::OpenOptions::new().write(true).open(&newest).unwrap();
    let original = std::fs::read(&newest).unwrap();
    file.write_all_at(b"y", 500_000).unwrap();
    let expected = "is damaged: the frame at byte 64 is broken; the writes after revision 8 are affected, up to revision 12 \
        at least, readable are 9 of /registry/things/n2, 10 of /registry/things/n0, 11 of /registry/things/n1, 12 of \
        /registry/things/n2; restore the store's folder from a backup";
    assert_eq!(refusal(&folder), format!("{} {expected}", newest.display()));

    file.write_all_at(b"no journal", 0).unwrap();
    assert!(refusal(&folder).contains("02.journal is damaged: it does not start like a journal at byte 0; the writes"));

    std::fs::write(&newest, &original).unwrap();
    std::fs::copy(&newest, folder.join("journal/0000000003.journal")).unwrap();
    assert!(refusal(&folder).contains("its header names file 2"));

    std::fs::rename(
        folder.join("journal/0000000003.journal"),
        folder.join("journal/0000000004.journal"),
    )
    .unwrap();
    assert!(refusal(&folder).contains("is damaged"));

    std::fs::remove_file(folder.join("journal/0000000004.journal")).unwrap();
    std::fs::remove_file(&newest).unwrap();
    let expected = "is damaged: it is missing; the writes after revision 8 are affected, up to revision 12 at least;";
    assert!(refusal(&folder).contains(&format!("{} {expected}", newest.display())));
}

#[tokio::test]
async fn a_damaged_state_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    filled(&folder).await;
    let state = generation(&folder);
    let advice = "restore the store's folder from a backup, or move it away to start empty";
    let files: Vec<_> = std::fs::read_dir(&state)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(
        files.iter().all(|file| file.is_file()),
        "sled keeps nothing in other files"
    );
    assert!(files.iter().any(|file| file.ends_with("db")), "sled has its log there");
    for file in &files {
        let original = std::fs::read(file).unwrap();
        for end in [0, 1, 20, original.len() / 2, original.len() - 1] {
            std::fs::write(file, &original[..end]).unwrap();
            let refusal = refusal(&folder);
            let expected = format!("{} is damaged: its file ", state.display());
            assert!(refusal.starts_with(&expected) && refusal.ends_with(advice), "{refusal}");
        }
        for part in 0..16 {
            let mut changed = original.clone();
            changed[(original.len() - 1) * part / 15] ^= 1;
            std::fs::write(file, &changed).unwrap();
            assert!(refusal(&folder).contains("is damaged: its file "), "changed at {part}");
        }
        std::fs::remove_file(file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        let expected = format!("{} is damaged: its file {name} is missing; {advice}", state.display());
        assert_eq!(refusal(&folder), expected);
        std::fs::write(file, &original).unwrap();
    }
    std::fs::rename(&state, temporary.path().join("moved")).unwrap();
    assert!(refusal(&folder).contains("is damaged: its file manifest is missing"));
    std::fs::rename(temporary.path().join("moved"), &state).unwrap();
    let list = folder.join("state/list");
    let original = std::fs::read(&list).unwrap();
    std::fs::write(&list, &original[..original.len() - 1]).unwrap();
    assert!(refusal(&folder).contains("is damaged: its file list is cut off, or changed"));
    std::fs::remove_file(&list).unwrap();
    assert!(refusal(&folder).contains("is damaged: its file list is missing"));
    // The flag for a damaged journal does not accept a damaged state.
    let accepting = || SledLog::open(&folder).and_then(|log| log.accepting_loss(true).load(&mut Nobody));
    let accepted = accepting()
        .expect_err("a lost list is no loss of the journal")
        .to_string();
    assert!(accepted.contains("is damaged: its file list is missing"), "{accepted}");
    std::fs::rename(&state, temporary.path().join("moved")).unwrap();
    let lost = "02.journal is damaged: the file 0000000001.journal before it is missing";
    assert!(refusal(&folder).contains(lost));
    let accepted = accepting()
        .expect_err("a lost state is no loss of the journal")
        .to_string();
    assert!(accepted.contains(lost), "{accepted}");
    std::fs::rename(temporary.path().join("moved"), &state).unwrap();
    std::fs::write(&list, original).unwrap();
    let (_storage, things) = open(&folder, &StorageOptions::default());
    assert_eq!(things.stats().entries, 3);
    let left: Vec<_> = std::fs::read_dir(folder.join("state")).unwrap().collect();
    assert_eq!(left.len(), 2, "copies for reading are gone");
}

#[tokio::test]
async fn a_generation_of_a_newer_format_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    filled(&folder).await;
    let state = generation(&folder);
    let manifest = std::fs::read_to_string(state.join("manifest")).unwrap();
    let newer = manifest.replace("planesmith-generation 3", "planesmith-generation 4");
    std::fs::write(state.join("manifest"), newer).unwrap();
    let advice = "this program knows 3; run the version of the program that wrote it, or choose another folder";
    assert_eq!(
        refusal(&folder),
        format!("{} has the store format 4, {advice}", state.display())
    );
}

#[tokio::test]
async fn the_rest_of_an_interrupted_settling_is_removed() {
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
    // As if the program had ended before it removed settled files, and while it settled more.
    std::fs::write(&journal, settled).unwrap();
    let unfinished = folder.join("state/00000000000000000012.0123456789abcdef.new");
    let copy = folder.join("state/00000000000000000008.0123456789abcdef.read");
    let older = folder.join("state/00000000000000000001");
    for made in [&unfinished, &copy, &older] {
        std::fs::create_dir_all(made.join("blobs")).unwrap();
        std::fs::write(made.join("db"), b"half").unwrap();
    }
    let (storage, things) = open(&folder, &StorageOptions::default());
    assert_eq!((things.stats().entries, storage.revision()), (3, Revision(12)));
    assert!(!journal.exists() && !unfinished.exists() && !copy.exists() && !older.exists());
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    std::fs::create_dir(temporary.path().join("journal")).unwrap();
    assert!(refusal(temporary.path()).contains("it has data, but no file `format`"));
}
