//! Cuts of the last journal file that a crash can leave: any part of the unsynced bytes.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use planesmith_store::conformance::{THINGS, delete, set, show};
use planesmith_store::{Collection, Expect, ListQuery, Revision, StorageOptions};

use crate::open;

/// Bytes that disks write as a whole.
const SECTOR: u64 = 512;

pub(crate) fn rendered(things: &Collection) -> Vec<String> {
    things
        .list(&ListQuery::all(THINGS))
        .unwrap()
        .entries
        .iter()
        .map(|entry| show(entry))
        .collect()
}

/// The state after a write.
pub(crate) struct Point {
    /// The end of the last frame in the journal.
    pub(crate) end: u64,
    pub(crate) state: Vec<String>,
    pub(crate) mark: Vec<u8>,
}

impl Point {
    fn now(folder: &Path, end: u64, things: &Collection) -> Self {
        Self {
            end,
            state: rendered(things),
            mark: std::fs::read(folder.join("mark")).unwrap(),
        }
    }
}

/// A store that was not closed, and the state after each write. Every third write takes several sectors.
pub(crate) async fn written(folder: &Path) -> Vec<Point> {
    let (storage, things) = open(folder, &StorageOptions::default());
    let mut points = vec![Point::now(folder, storage.stats().disk_bytes, &things)];
    for number in 0..12 {
        let name = format!("n{}", number % 5);
        if number % 4 == 3 {
            delete(&things, &name, Expect::Any).await.ok();
        } else {
            let length = if number % 3 == 0 { 1500 } else { 1 };
            set(&things, &name, &format!("w{number}{}", "x".repeat(length))).await;
        }
        points.push(Point::now(folder, storage.stats().disk_bytes, &things));
    }
    // Not closed: bytes that were written ahead are still there, as after a crash.
    std::mem::forget(storage);
    points
}

/// A copy of the store in `folder` as it was when the mark was that of `point`, with its journal changed by `change`.
pub(crate) fn copy(folder: &Path, point: &Point, change: impl FnOnce(&File)) -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let copy = temporary.path().join("store");
    copy_folder(folder, &copy);
    std::fs::write(copy.join("mark"), &point.mark).unwrap();
    let journal = copy.join("journal/0000000001.journal");
    change(&OpenOptions::new().read(true).write(true).open(journal).unwrap());
    (temporary, copy)
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(file.file_name());
        if file.file_type().unwrap().is_dir() {
            copy_folder(&file.path(), &target);
        } else {
            std::fs::copy(file.path(), target).unwrap();
        }
    }
}

/// Overwrites a part of a file with zeros.
pub(crate) fn zero(file: &File, from: u64, to: u64) {
    let zeros = vec![0; usize::try_from(to.saturating_sub(from)).unwrap()];
    file.write_all_at(&zeros, from).unwrap();
}

/// Opens the copy of a store, which must have `state`, and continues to use it.
async fn check(copy: &Path, state: &[String], what: &str) {
    let (storage, things) = open(copy, &StorageOptions::default());
    assert_eq!(rendered(&things), state, "{what}");
    // The store continues after the rest of the torn frame.
    let revision = set(&things, "new", "one").await.revision();
    storage.close().await;
    drop((storage, things));
    let (storage, things) = open(copy, &StorageOptions::default());
    assert_eq!(storage.revision(), revision, "{what}");
    assert!(rendered(&things).contains(&format!("new=one@{revision}")), "{what}");
}

#[tokio::test]
async fn synced_writes_are_there_with_any_part_of_the_unsynced_tail() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let points = written(&folder).await;
    let length = std::fs::metadata(folder.join("journal/0000000001.journal"))
        .unwrap()
        .len();
    // Some deletions find nothing to delete.
    for pair in points.windows(2).filter(|pair| pair[0].end < pair[1].end) {
        let [Point { end: synced, state, .. }, Point { end: next, .. }] = pair else {
            unreachable!("windows of two")
        };
        let sectors = (synced / SECTOR..=(next - 1) / SECTOR).map(|sector| {
            let start = sector * SECTOR;
            start.max(*synced)..(start + SECTOR).min(*next)
        });
        let mut lost: Vec<_> = sectors.collect();
        // A frame that was written up to some byte, as some memory does.
        lost.extend([*synced, synced + 1, synced + 16, (synced + next) / 2, next - 1].map(|cut| cut..*next));
        for range in lost {
            let (_temporary, copy) = copy(&folder, &pair[0], |file| {
                zero(file, *next, length);
                zero(file, range.start, range.end);
            });
            check(&copy, state, &format!("without {range:?}, synced up to {synced}")).await;
        }
    }
}

#[tokio::test]
async fn a_file_that_had_not_grown_yet_is_torn() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let points = written(&folder).await;
    // Only the first frame makes the file longer.
    for length in [points[0].end, points[0].end + 1, points[0].end + 60, points[1].end - 1] {
        let (_temporary, copy) = copy(&folder, &points[0], |file| file.set_len(length).unwrap());
        check(&copy, &[], &format!("{length} bytes")).await;
    }
}

#[tokio::test]
async fn a_crash_while_a_journal_file_is_made_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let points = written(&folder).await;
    for content in [Vec::new(), vec![0; 10], vec![0xa5; 4096]] {
        let last = points.last().unwrap();
        let (_temporary, copy) = copy(&folder, last, |_| {});
        std::fs::write(copy.join("journal/spare.new"), content).unwrap();
        let (storage, things) = open(&copy, &StorageOptions::default());
        assert_eq!(rendered(&things), last.state);
        assert!(storage.revision() > Revision::ZERO);
    }
}
