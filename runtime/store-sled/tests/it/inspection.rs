//! The check of a stopped store: damaged, legible and lost parts.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planesmith_store::conformance::{key, set};
use planesmith_store::log::LogError;
use planesmith_store::{Fidelity, LoadedSource, LogTarget, Revision, RevisionShift, StorageOptions, transfer};
use planesmith_store_sled::{Inspection, LostState, SledLog, known_revision};

use crate::cut::copy_folder;
use crate::{eager, fill, open};

fn inspect(folder: &Path) -> Inspection {
    Inspection::of::<LogError>(folder, |_, _| Ok(())).unwrap()
}

/// The damaged files below `folder`, and what is wrong with them.
fn damages(folder: &Path, inspection: &Inspection) -> Vec<(String, String)> {
    let damaged = inspection
        .files
        .iter()
        .filter_map(|file| Some((file, file.damage.clone()?)));
    let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    damaged.map(|(file, damage)| (name(&file.path), damage)).collect()
}

fn keys(inspection: &Inspection) -> Vec<(Arc<str>, u64)> {
    let states = inspection.states.iter();
    states.map(|state| (Arc::clone(&state.key), state.revision.0)).collect()
}

/// Ten small writes to five keys in one journal file, closed in order.
async fn small(folder: &Path) {
    let (storage, things) = open(folder, &StorageOptions::default());
    for number in 0..10 {
        set(&things, &format!("n{}", number % 5), &number.to_string().repeat(50)).await;
    }
    storage.close().await;
}

/// Flips a bit of the byte at `at`.
fn flip(path: &Path, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

/// The position of `text` in the file.
fn find(path: &Path, text: &str) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    let found = bytes.windows(text.len()).position(|window| window == text.as_bytes());
    found.unwrap() as u64
}

/// Writes what is legible to a new folder, opens it, and returns the number of its objects.
async fn repaired(inspection: Inspection, folder: &Path) -> usize {
    let log = SledLog::open(folder).unwrap();
    let unseen = inspection.unseen;
    let mut source = LoadedSource::new(inspection.states, unseen, "test", 0);
    let mut target = LogTarget::new(&log).unwrap();
    let ledger = transfer(&mut source, &mut target, RevisionShift::default(), &mut |_| Ok(())).unwrap();
    planesmith_store::log::Log::close(&log).unwrap();
    drop(log);
    let log = SledLog::open(folder).unwrap();
    let mut copy = LoadedSource::of_log(&log, "test", 0, &mut |_, _| Ok(())).unwrap();
    planesmith_store::log::Log::close(&log).unwrap();
    drop(log);
    assert_eq!(
        ledger.verify(&mut copy, Fidelity::Exact, &mut |_| Ok(())).unwrap(),
        None
    );
    let (storage, things) = open(folder, &StorageOptions::default());
    assert_eq!((storage.revision(), storage.oldest()), (unseen, unseen));
    let entries = things.stats().entries;
    storage.close().await;
    entries
}

#[tokio::test]
async fn a_whole_store_is_reported_as_it_opens() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fill(eager(&folder)).await;
    let found = inspect(&folder);
    assert!(found.is_whole(), "{:?}", damages(&folder, &found));
    assert_eq!(
        (found.revision, found.lost.len(), found.unnamed),
        (Revision(12), 0, Default::default())
    );
    assert_eq!(keys(&found), [(key("n0"), 10), (key("n1"), 11), (key("n2"), 12)]);
    assert_eq!(known_revision(&folder), Revision(12));
    assert!(found.files.len() >= 3 && found.bytes > 1_000_000);
    // The check changes nothing that a start would notice.
    let (storage, things) = open(&folder, &StorageOptions::default());
    assert_eq!((storage.revision(), things.stats().entries), (Revision(12), 3));
    let refused = Inspection::of::<LogError>(&folder, |_, _| Ok(())).unwrap_err();
    assert!(matches!(refused, LogError::InUse(_)));
    storage.close().await;
    let refused = Inspection::of::<LogError>(temporary.path(), |_, _| Ok(())).unwrap_err();
    assert!(refused.to_string().starts_with("there is no store in"), "{refused}");
}

#[tokio::test]
async fn a_broken_frame_loses_its_own_writes_and_no_later_ones() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    small(&folder).await;
    let journal = folder.join("journal/0000000001.journal");
    // The seventh write, of n1, and the third, of n2, which the eighth has superseded.
    flip(&journal, find(&journal, &"6".repeat(50)));
    flip(&journal, find(&journal, &"2".repeat(50)));
    let found = inspect(&folder);
    assert_eq!(damages(&folder, &found).len(), 1, "{:?}", damages(&folder, &found));
    let lost = LostState {
        key: key("n1"),
        revision: Revision(7),
        legible: Some(Revision(2)),
    };
    assert_eq!(found.lost, [lost]);
    let kept = [("n1", 2), ("n0", 6), ("n2", 8), ("n3", 9), ("n4", 10)];
    assert_eq!(keys(&found), kept.map(|(name, revision)| (key(name), revision)));
    assert!(found.unseen > Revision(1_000_000_000));
    assert_eq!(repaired(found, &temporary.path().join("new")).await, 5);
}

#[tokio::test]
async fn lost_files_beside_the_writes_lose_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let original = temporary.path().join("original");
    fill(eager(&original)).await;
    for (name, content) in [
        ("mark", None),
        ("mark", Some("?")),
        ("format", None),
        ("format", Some("?")),
        ("state/list", None),
        ("state/list", Some("planesmith-state 2\n?")),
    ] {
        let folder = temporary.path().join("store");
        copy_folder(&original, &folder);
        match content {
            Some(content) => std::fs::write(folder.join(name), content).unwrap(),
            None => std::fs::remove_file(folder.join(name)).unwrap(),
        }
        let found = inspect(&folder);
        let damaged = damages(&folder, &found);
        assert!(
            damaged.iter().any(|(damaged, _)| damaged == name),
            "{name} {content:?}: {damaged:?}"
        );
        assert_eq!(
            (found.states.len(), found.revision),
            (3, Revision(12)),
            "{name} {content:?}"
        );
        let new = temporary.path().join("new");
        assert_eq!(repaired(found, &new).await, 3);
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::remove_dir_all(&new).unwrap();
    }
}

#[tokio::test]
async fn a_damaged_generation_is_read_as_far_as_possible() {
    let temporary = tempfile::tempdir().unwrap();
    let original = temporary.path().join("original");
    let (storage, things) = open(&original, &StorageOptions::default());
    let word = "x".repeat(10_000);
    for number in 0..900 {
        set(&things, &format!("n{number}"), &word).await;
    }
    storage.compact(Revision(900));
    storage.compacted(Revision(900)).await;
    storage.close().await;
    let generations: Vec<PathBuf> = std::fs::read_dir(original.join("state"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    let damaged = generations.first().unwrap().file_name().unwrap().to_owned();
    let folder = temporary.path().join("store");
    for damage in 0..4 {
        copy_folder(&original, &folder);
        let generation = folder.join("state").join(&damaged);
        let db = generation.join("db");
        let length = std::fs::metadata(&db).unwrap().len();
        match damage {
            0 => flip(&db, length / 2),
            1 => OpenOptions::new()
                .write(true)
                .open(&db)
                .unwrap()
                .set_len(length / 2)
                .unwrap(),
            2 => std::fs::remove_file(generation.join("manifest")).unwrap(),
            _ => std::fs::remove_dir_all(&generation).unwrap(),
        }
        let found = inspect(&folder);
        let damaged = damages(&folder, &found);
        assert_eq!(damaged.len(), 1, "{damaged:?}");
        let states = found.states.len() as u64;
        let unnamed = found.unnamed;
        assert!(
            states <= 900 && (unnamed.is_open || states + unnamed.states >= 900),
            "{damage}: {states} {unnamed:?}"
        );
        assert!(states > 0 || generations.len() == 1, "other generations are legible");
        let new = temporary.path().join("new");
        assert_eq!(repaired(found, &new).await as u64, states);
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::remove_dir_all(&new).unwrap();
    }
}

#[tokio::test]
async fn a_frame_that_was_never_acknowledged_is_no_damage() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (storage, things) = open(&folder, &StorageOptions::default());
    set(&things, "one", "1").await;
    let end = storage.stats().disk_bytes;
    let copy = temporary.path().join("copy");
    copy_folder(&folder, &copy);
    storage.close().await;
    let journal = copy.join("journal/0000000001.journal");
    let file = OpenOptions::new().write(true).open(&journal).unwrap();
    // The start of a frame whose rest the disk did not reach.
    file.write_all_at(&[0xff, 0x50, 0x4c, 0xfe], end).unwrap();
    let found = inspect(&copy);
    assert!(
        found.is_whole() && found.lost.is_empty(),
        "{:?}",
        damages(&copy, &found)
    );
    assert_eq!(keys(&found), [(key("one"), 1)]);
}
