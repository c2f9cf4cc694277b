//! Failing syncs and writes: acknowledged writes are not lost, refused ones do not come back, and pages that the
//! operating system discarded are written again.

mod pages;
mod refused;
mod unconfirmed;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

use planesmith_store::conformance::{THINGS, WordIndex, delete, put, set};
use planesmith_store::log::LogError;
use planesmith_store::{AlarmKind, Collection, Expect, OpenError, Revision, Storage, StorageOptions, WriteError};
use planesmith_store_sled::{CutWrite, DiskFault, SledLog};

use crate::cut::{copy_folder, rendered};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

struct Then(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for Then {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Then")
    }
}

/// Makes syncs fail with an error of the operating system, and records the paths of all.
#[derive(Debug, Default)]
struct Faults {
    plan: Mutex<Plan>,
    changed: Condvar,
    /// Called after the last planned failure.
    then: Mutex<Option<Then>>,
    synced: Mutex<Vec<PathBuf>>,
}

#[derive(Debug, Default)]
struct Plan {
    /// The syncs of paths that contain this fail.
    path: String,
    /// The number of planned failures.
    times: u32,
    error: i32,
    /// While set, all writes to the journal fail, the first after so many bytes, later ones after none.
    cut_after: Option<usize>,
}

impl Faults {
    fn fail(&self, path: &str, times: u32, error: i32) {
        let path = path.to_owned();
        *self.plan.lock().unwrap() = Plan {
            path,
            times,
            error,
            cut_after: None,
        };
    }

    /// Calls `then` after the last planned failure.
    fn then(self: &Arc<Self>, then: impl FnOnce(&Self) + Send + 'static) {
        let faults = Arc::clone(self);
        *self.then.lock().unwrap() = Some(Then(Box::new(move || then(&faults))));
    }

    /// Writes to the journal fail for lack of space, the next one after `bytes`, or succeed again.
    fn cut_writes(&self, bytes: Option<usize>) {
        self.plan.lock().unwrap().cut_after = bytes;
    }

    /// The number of planned failures that did not happen.
    fn left(&self) -> u32 {
        self.plan.lock().unwrap().times
    }

    /// Waits until all planned failures have happened.
    fn exhausted(&self) {
        let plan = self.plan.lock().unwrap();
        drop(self.changed.wait_while(plan, |plan| plan.times > 0).unwrap());
    }

    fn synced(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.synced.lock().unwrap())
    }
}

impl DiskFault for Faults {
    fn before_write(&self, _path: &Path, _file: &File, _at: u64, _length: usize) -> Result<(), CutWrite> {
        let mut plan = self.plan.lock().unwrap();
        let Some(written) = plan.cut_after else { return Ok(()) };
        plan.cut_after = Some(0);
        let error = io::Error::from_raw_os_error(ENOSPC);
        Err(CutWrite { written, error })
    }

    fn before_sync(&self, path: &Path, _file: &File) -> io::Result<()> {
        let mut plan = self.plan.lock().unwrap();
        if plan.times > 0 && path.to_str().unwrap().contains(&plan.path) {
            plan.times -= 1;
            self.changed.notify_all();
            let error = io::Error::from_raw_os_error(plan.error);
            let is_last = plan.times == 0;
            drop(plan);
            if is_last && let Some(Then(then)) = self.then.lock().unwrap().take() {
                then();
            }
            return Err(error);
        }
        self.synced.lock().unwrap().push(path.to_owned());
        Ok(())
    }
}

fn try_open(folder: &Path, faults: &Arc<Faults>) -> Result<(Storage, Arc<Collection>), OpenError> {
    let log = SledLog::open_faulty(folder, Arc::clone(faults) as Arc<Faults>)?;
    let log = log.settling_at(0).rolling_at(100_000);
    let storage = Storage::open(log, &StorageOptions::default())?;
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    Ok((storage, things))
}

fn open(folder: &Path, faults: &Arc<Faults>) -> (Storage, Arc<Collection>) {
    try_open(folder, faults).unwrap()
}

/// Writes `count` objects of 10 KB.
async fn fill(things: &Arc<Collection>, count: usize) {
    for number in 0..count {
        set(things, &format!("n{number}"), &"x".repeat(10_000)).await;
    }
}

/// The newest journal file.
fn newest(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder.join("journal")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files
        .filter(|file| file.extension() == Some("journal".as_ref()))
        .max()
        .unwrap()
}

/// Opens a copy of the store as after a loss of power that also broke `file` from byte `from` on, as a disk may do
/// whose write failed there.
fn after_a_broken_block(folder: &Path, file: &Path, from: u64) -> Vec<String> {
    let temporary = tempfile::tempdir().unwrap();
    let copy = temporary.path().join("store");
    copy_folder(folder, &copy);
    if let Ok(file) = OpenOptions::new()
        .write(true)
        .open(copy.join("journal").join(file.file_name().unwrap()))
    {
        let length = file.metadata().unwrap().len();
        let garbage = vec![0xa5; usize::try_from(length.saturating_sub(from)).unwrap()];
        file.write_all_at(&garbage, from).unwrap();
    }
    rendered(&open(&copy, &Arc::default()).1)
}

#[tokio::test]
async fn a_failed_sync_of_the_journal_moves_the_doubtful_frames_to_a_new_file() {
    // Once while no frame in the file is safe from the failed block, and once while most of them are.
    for (count, safe) in [(3, 0), (8, 64 << 10)] {
        let temporary = tempfile::tempdir().unwrap();
        let (folder, faults) = (temporary.path().join("store"), Arc::default());
        let (storage, things) = open(&folder, &faults);
        fill(&things, count).await;
        let failed = newest(&folder);
        faults.fail(".journal", 1, EIO);
        set(&things, "after", "one").await;
        assert_eq!(faults.left(), 0);
        assert_ne!(newest(&folder), failed);
        let before = rendered(&things);
        assert_eq!(after_a_broken_block(&folder, &failed, safe), before, "{count} frames");
        storage.health().unwrap();
        assert!(storage.alarms().is_empty());

        set(&things, "more", "one").await;
        let before = rendered(&things);
        assert_eq!(after_a_broken_block(&folder, &failed, safe), before, "{count} frames");
        // Full files are settled as without a failure.
        storage.compact(storage.revision());
        storage.compacted(storage.revision()).await;
        storage.close().await;
        assert_eq!(rendered(&open(&folder, &faults).1), before);
    }
}

#[tokio::test]
async fn a_disk_that_goes_on_failing_makes_the_store_read_only() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, faults) = (temporary.path().join("store"), Arc::default());
    let (storage, things) = open(&folder, &faults);
    fill(&things, 3).await;
    let before = rendered(&things);
    faults.fail("journal", u32::MAX, EIO);
    // The content of the disk is unknown after the first failure.
    let unknown = put(&things, "unknown", "one", Expect::Any).await;
    assert!(matches!(unknown, Err(WriteError::Io(_))), "{unknown:?}");
    for name in ["a", "b"] {
        let refused = put(&things, name, "one", Expect::Any).await.unwrap_err();
        let expected = "the store accepts no writes until it is started again: the disk failed 3 times: Input/output error \
            (os error 5)";
        assert_eq!(refused.to_string(), expected);
    }
    assert!(u32::MAX - faults.left() < 10, "the attempts are few");
    assert!(matches!(storage.health(), Err(WriteError::ReadOnly(_))));
    let alarms = storage.alarms();
    assert_eq!((alarms.len(), alarms[0].kind), (1, AlarmKind::ReadOnly));
    assert!(!alarms[0].reason.contains("store/"), "{}", alarms[0].reason);
    assert_eq!(rendered(&things), before, "reads go on");
    // Not even when the disk recovers: its content is unknown.
    faults.fail("", 0, EIO);
    assert!(put(&things, "c", "one", Expect::Any).await.is_err());
    storage.close().await;
    drop((storage, things));

    let (storage, things) = open(&folder, &faults);
    // Zeros took its place, though they were not synced.
    assert_eq!(rendered(&things), before);
    let revision = set(&things, "d", "one").await.revision();
    assert!(revision > Revision(3) && storage.alarms().is_empty());
}

#[tokio::test]
async fn a_folder_that_cannot_be_synced_makes_the_store_read_only_when_a_file_is_full() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, faults) = (temporary.path().join("store"), Arc::default());
    let (storage, things) = open(&folder, &faults);
    fill(&things, 9).await;
    faults.fail("/journal", 1, EIO);
    set(&things, "more", &"x".repeat(10_000)).await;
    assert_eq!(faults.left(), 0);
    storage.health().unwrap();
    let before = rendered(&things);
    assert_eq!(after_a_broken_block(&folder, Path::new("none"), 0), before);
    fill(&things, 8).await;
    faults.fail("/journal", u32::MAX, EIO);
    let refused = put(&things, "other", &"x".repeat(20_000), Expect::Any).await;
    assert!(matches!(refused, Err(WriteError::ReadOnly(_))), "{refused:?}");
}

#[tokio::test]
async fn a_sync_that_fails_for_lack_of_space_is_tried_again_with_the_next_write() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, faults) = (temporary.path().join("store"), Arc::default());
    let (storage, things) = open(&folder, &faults);
    fill(&things, 3).await;
    let (failed, before) = (newest(&folder), rendered(&things));
    faults.fail(".journal", u32::MAX, ENOSPC);
    let unknown = put(&things, "unknown", "one", Expect::Any).await;
    assert!(matches!(unknown, Err(WriteError::Io(_))), "{unknown:?}");
    for _ in 0..5 {
        let refused = put(&things, "refused", "one", Expect::Any).await;
        assert!(matches!(refused, Err(WriteError::Full)), "{refused:?}");
        assert_eq!(after_a_broken_block(&folder, Path::new("none"), 0), before);
    }
    assert!(matches!(storage.health(), Err(WriteError::Full)));
    assert_eq!(storage.alarms()[0].kind, AlarmKind::NoSpace);
    assert_eq!(rendered(&things), before);
    faults.fail("", 0, ENOSPC);
    set(&things, "after", "one").await;
    assert!(storage.alarms().is_empty());
    let before = rendered(&things);
    assert_eq!(after_a_broken_block(&folder, &failed, 0), before);
    storage.close().await;
    drop((storage, things));
    assert_eq!(rendered(&open(&folder, &faults).1), before);
}

#[tokio::test]
async fn a_full_file_goes_on_growing_while_there_is_no_space_for_the_next() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, faults) = (temporary.path().join("store"), Arc::default());
    let (storage, things) = open(&folder, &faults);
    fill(&things, 9).await;
    let full = newest(&folder);
    faults.fail("0000000002.journal", 1, ENOSPC);
    set(&things, "more", &"x".repeat(10_000)).await;
    assert_eq!((faults.left(), newest(&folder)), (0, full.clone()));
    set(&things, "next", "one").await;
    assert_ne!(newest(&folder), full);
    assert!(storage.alarms().is_empty());
    assert_eq!(after_a_broken_block(&folder, Path::new("none"), 0), rendered(&things));
}

#[tokio::test]
async fn a_failed_sync_of_the_state_leaves_the_journal() {
    for path in ["/db", "/conf", "/manifest", ".new", "/state"] {
        let temporary = tempfile::tempdir().unwrap();
        let (folder, faults) = (temporary.path().join("store"), Arc::default());
        let (storage, things) = open(&folder, &faults);
        fill(&things, 12).await;
        let before = rendered(&things);
        faults.fail(path, 1, EIO);
        let revision = storage.revision();
        storage.compact(revision);
        faults.exhausted();
        // The files of the attempt are removed.
        storage.compacted(revision).await;
        assert_eq!(after_a_broken_block(&folder, Path::new("none"), 0), before, "{path}");
        set(&things, "more", "one").await;
        let before = rendered(&things);
        storage.close().await;
        drop((storage, things));
        let (storage, things) = open(&folder, &faults);
        storage.compact(revision);
        storage.compacted(revision).await;
        assert!(!folder.join("journal/0000000001.journal").exists(), "{path}");
        assert_eq!(rendered(&things), before, "{path}");
    }
}

#[tokio::test]
async fn records_found_at_the_start_are_synced_before_they_are_visible() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (storage, things) = open(&folder, &Arc::default());
    fill(&things, 12).await;
    let before = rendered(&things);
    storage.compact(Revision(12));
    storage.compacted(Revision(12)).await;
    // As after a crash: the content of the disk is unknown.
    let crashed = temporary.path().join("crashed");
    copy_folder(&folder, &crashed);
    let older = crashed.join("state/00000000000000000001");
    let (last, journal, state) = (newest(&crashed), crashed.join("journal"), crashed.join("state"));
    for path in [&last, &journal, &state, &crashed] {
        std::fs::create_dir_all(&older).unwrap();
        let faults = Arc::<Faults>::default();
        faults.fail(path.to_str().unwrap(), 1, EIO);
        let opened = try_open(&crashed, &faults);
        let Err(OpenError::Log(LogError::Io { context, .. })) = opened else {
            panic!("the store opens without a sync of {}", path.display());
        };
        assert!(context.contains(path.to_str().unwrap()), "{context}");
        // The older generation is removed once the newer one is known to be on the disk.
        assert_eq!(older.exists(), path == &state || path == &crashed, "{}", path.display());
    }
    let faults = Arc::<Faults>::default();
    let (_storage, things) = open(&crashed, &faults);
    let synced = faults.synced();
    for path in [last, journal, state, crashed] {
        assert!(synced.contains(&path), "{} is not synced", path.display());
    }
    assert_eq!(rendered(&things), before);
}

#[tokio::test]
async fn the_names_of_folders_that_a_crash_left_without_content_are_synced() {
    let temporary = tempfile::tempdir().unwrap();
    let parent = temporary.path().join("parent");
    let (folder, faults) = (parent.join("store"), Arc::<Faults>::default());
    // A start ended after it created the folders and before it synced their parents.
    std::fs::create_dir_all(&folder).unwrap();
    drop(open(&folder, &faults));
    let synced = faults.synced();
    for path in [temporary.path(), &parent] {
        let position = synced.iter().position(|synced| synced == path);
        let written = synced.iter().position(|synced| synced == &folder.join("format.new"));
        assert!(position.is_some() && position < written, "{}", path.display());
    }
}
