//! The rest of a refused write in the journal never counts as a write, whatever follows.

use super::*;

const LONG: usize = 3000;

fn reopened(folder: &Path) -> Vec<String> {
    rendered(&open(folder, &Arc::default()).1)
}

#[tokio::test]
async fn the_rest_of_a_refused_write_is_no_damage_after_an_orderly_close() {
    // It stays until the next start, or is removed by the close.
    for is_full in [true, false] {
        for written in [1, 30, 700, 2048] {
            let temporary = tempfile::tempdir().unwrap();
            let (folder, faults) = (temporary.path().join("store"), Arc::default());
            let (storage, things) = open(&folder, &faults);
            fill(&things, 3).await;
            let before = rendered(&things);
            faults.cut_writes(Some(written));
            let refused = put(&things, "refused", &"x".repeat(LONG), Expect::Any).await;
            assert!(matches!(refused, Err(WriteError::Full)), "{refused:?}");
            if !is_full {
                faults.cut_writes(None);
            }
            storage.close().await;
            drop((storage, things));
            assert_eq!(reopened(&folder), before, "{written} bytes were written");
        }
    }
}

#[tokio::test]
async fn a_write_of_unknown_outcome_is_dropped_by_the_next_one() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, faults) = (temporary.path().join("store"), Arc::<Faults>::default());
    let (storage, things) = open(&folder, &faults);
    fill(&things, 3).await;
    // Zeros are written ahead of small frames.
    for number in 0..5 {
        set(&things, &format!("small{number}"), "one").await;
    }
    let before = rendered(&things);
    // The sync of its frame fails, and then the file system is full: nothing removes the frame.
    faults.fail(".journal", 1, EIO);
    faults.then(|faults| faults.cut_writes(Some(0)));
    let unknown = put(&things, "unknown", "one", Expect::Any).await;
    assert!(matches!(unknown, Err(WriteError::Io(_))), "{unknown:?}");
    assert_eq!(rendered(&things), before);
    let killed = temporary.path().join("killed");
    copy_folder(&folder, &killed);
    assert_eq!(reopened(&killed).len(), before.len() + 1, "the next start finds it");

    faults.cut_writes(None);
    set(&things, "after", "one").await;
    let after = rendered(&things);
    storage.close().await;
    drop((storage, things));
    assert_eq!(reopened(&folder), after);
}

#[tokio::test]
async fn a_refused_write_that_is_there_nevertheless_has_an_unknown_outcome() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, faults) = (temporary.path().join("store"), Arc::<Faults>::default());
    let (storage, things) = open(&folder, &faults);
    fill(&things, 3).await;
    // Zeros are written ahead of small frames.
    for number in 0..5 {
        set(&things, &format!("small{number}"), "one").await;
    }
    let before = rendered(&things);
    // The operating system refuses its frame after the last byte, and then its removal.
    faults.cut_writes(Some(usize::MAX));
    let unknown = put(&things, "unknown", "one", Expect::Any).await;
    assert!(matches!(unknown, Err(WriteError::Io(_))), "{unknown:?}");
    assert_eq!(rendered(&things), before);
    let killed = temporary.path().join("killed");
    copy_folder(&folder, &killed);
    assert_eq!(reopened(&killed).len(), before.len() + 1, "the next start finds it");

    faults.cut_writes(None);
    set(&things, "after", "one").await;
    let after = rendered(&things);
    storage.close().await;
    drop((storage, things));
    assert_eq!(reopened(&folder), after);
}

#[tokio::test]
async fn a_name_that_may_come_back_makes_the_outcome_unknown() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, faults) = (temporary.path().join("store"), Arc::<Faults>::default());
    let (_storage, things) = open(&folder, &faults);
    fill(&things, 3).await;
    // The new file that gets the frame is named, but the folder cannot be synced.
    faults.fail(".journal", 1, EIO);
    faults.then(|faults| faults.fail("store/journal", u32::MAX, EIO));
    let unknown = put(&things, "unknown", "one", Expect::Any).await;
    assert!(matches!(unknown, Err(WriteError::Io(_))), "{unknown:?}");
    let refused = put(&things, "refused", "one", Expect::Any).await;
    assert!(matches!(refused, Err(WriteError::ReadOnly(_))), "{refused:?}");
}

/// Refuses writes to the journal while the reserve has all of its space: a quota counts that, too.
#[derive(Debug)]
struct Quota {
    reserve: PathBuf,
    full: std::sync::atomic::AtomicU64,
    /// The next sync of a file of the journal fails, and from then on the quota is exhausted.
    fails: std::sync::atomic::AtomicBool,
}

impl Quota {
    fn open(folder: &Path) -> (Arc<Self>, Storage, Arc<Collection>) {
        let quota = Arc::new(Self {
            reserve: folder.join("reserve"),
            full: u64::MAX.into(),
            fails: false.into(),
        });
        let log = SledLog::open_faulty(folder, Arc::clone(&quota) as Arc<Self>).unwrap();
        let storage = Storage::open(log, &StorageOptions::default()).unwrap();
        let things = storage.collection(THINGS, Arc::new(WordIndex));
        (quota, storage, things)
    }

    /// Refuses writes from now on; returns the size of the reserve.
    fn exhaust(&self) -> u64 {
        let reserved = self.reserve.metadata().unwrap().len();
        self.full.store(reserved, std::sync::atomic::Ordering::SeqCst);
        reserved
    }
}

impl DiskFault for Quota {
    fn before_sync(&self, path: &Path, _file: &File) -> io::Result<()> {
        let is_journal = path.extension().is_some_and(|extension| extension == "journal");
        match is_journal && self.fails.swap(false, std::sync::atomic::Ordering::SeqCst) {
            true => {
                self.exhaust();
                Err(io::Error::from_raw_os_error(EIO))
            }
            false => Ok(()),
        }
    }

    fn before_write(&self, _path: &Path, _file: &File, _at: u64, _length: usize) -> Result<(), CutWrite> {
        let full = self.full.load(std::sync::atomic::Ordering::SeqCst);
        if self.reserve.metadata().unwrap().len() < full {
            return Ok(());
        }
        let error = io::Error::from_raw_os_error(ENOSPC);
        Err(CutWrite { written: 0, error })
    }
}

#[tokio::test]
async fn deletions_take_the_reserve_where_a_quota_refuses_what_the_disk_has_space_for() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (quota, storage, things) = Quota::open(&folder);
    fill(&things, 2).await;
    let reserved = quota.exhaust();
    let refused = put(&things, "refused", "one", Expect::Any).await;
    assert!(matches!(refused, Err(WriteError::Full)), "{refused:?}");
    delete(&things, "n0", Expect::Any).await.unwrap();
    assert!(quota.reserve.metadata().unwrap().len() < reserved);
    assert_eq!(storage.alarms()[0].kind, AlarmKind::NoSpace, "growth is still refused");
    let before = rendered(&things);
    storage.close().await;
    drop((storage, things));
    assert_eq!(reopened(&folder), before);
}

#[tokio::test]
async fn deletions_take_the_reserve_after_a_failed_sync_too() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (quota, storage, things) = Quota::open(&folder);
    fill(&things, 2).await;
    // The sync of a frame fails, and the new file that would have the frame is refused.
    quota.fails.store(true, std::sync::atomic::Ordering::SeqCst);
    let refused = put(&things, "refused", "one", Expect::Any).await;
    assert!(
        matches!(refused, Err(WriteError::Full | WriteError::Io(_))),
        "{refused:?}"
    );
    delete(&things, "n0", Expect::Any).await.unwrap();
    let before = rendered(&things);
    storage.close().await;
    drop((storage, things));
    assert_eq!(reopened(&folder), before);
}
