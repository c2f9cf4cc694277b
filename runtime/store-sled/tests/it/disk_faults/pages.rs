//! The pages of a failed sync: the operating system treats them as written, so that no later sync writes them.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;

use super::*;

const PAGE: usize = 4096;

/// The journal files as they are on the disk, by their inodes.
#[derive(Debug, Default)]
struct Pages {
    files: Mutex<HashMap<u64, OnDisk>>,
    /// The number of syncs of journal files that fail.
    failing: Mutex<u32>,
    /// All writes fail after a failed sync.
    fills_up: Mutex<bool>,
    is_full: Mutex<bool>,
}

#[derive(Debug, Default)]
struct OnDisk {
    content: Vec<u8>,
    /// Pages that the next sync writes.
    dirty: BTreeSet<usize>,
}

fn is_journal(path: &Path) -> bool {
    path.extension() == Some("journal".as_ref())
}

impl DiskFault for Pages {
    fn before_write(&self, path: &Path, file: &File, at: u64, length: usize) -> Result<(), CutWrite> {
        if *self.is_full.lock().unwrap() {
            let error = io::Error::from_raw_os_error(ENOSPC);
            return Err(CutWrite { written: 0, error });
        }
        assert!(is_journal(path));
        let mut files = self.files.lock().unwrap();
        let known = files.entry(file.metadata().unwrap().ino()).or_default();
        let at = usize::try_from(at).unwrap();
        if length > 0 {
            known.dirty.extend(at / PAGE..=(at + length - 1) / PAGE);
        }
        Ok(())
    }

    fn before_sync(&self, path: &Path, file: &File) -> io::Result<()> {
        if !is_journal(path) {
            return Ok(());
        }
        let mut files = self.files.lock().unwrap();
        let known = files.entry(file.metadata().unwrap().ino()).or_default();
        let dirty = std::mem::take(&mut known.dirty);
        let mut failing = self.failing.lock().unwrap();
        if *failing > 0 {
            *failing -= 1;
            *self.is_full.lock().unwrap() = *self.fills_up.lock().unwrap();
            return Err(io::Error::from_raw_os_error(EIO));
        }
        let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
        let mut content = vec![0; length];
        file.read_exact_at(&mut content, 0).unwrap();
        known.content.resize(length, 0);
        for page in dirty {
            let bytes = page * PAGE..length.min((page + 1) * PAGE);
            if !bytes.is_empty() {
                known.content[bytes.clone()].copy_from_slice(&content[bytes]);
            }
        }
        Ok(())
    }
}

impl Pages {
    fn fail(&self, times: u32) {
        *self.failing.lock().unwrap() = times;
    }

    fn open(self: &Arc<Self>, folder: &Path) -> (Storage, Arc<Collection>) {
        let log = SledLog::open_faulty(folder, Arc::clone(self) as Arc<Self>).unwrap();
        let storage = Storage::open(log.rolling_at(60_000), &StorageOptions::default()).unwrap();
        let things = storage.collection(THINGS, Arc::new(WordIndex));
        (storage, things)
    }

    /// The content at a start after a loss of power.
    fn after_a_loss_of_power(&self, folder: &Path) -> Vec<String> {
        let temporary = tempfile::tempdir().unwrap();
        let copy = temporary.path().join("store");
        copy_folder(folder, &copy);
        let files = self.files.lock().unwrap();
        for file in std::fs::read_dir(folder.join("journal")).unwrap().map(Result::unwrap) {
            if let Some(known) = files
                .get(&file.metadata().unwrap().ino())
                .filter(|_| is_journal(&file.path()))
            {
                std::fs::write(copy.join("journal").join(file.file_name()), &known.content).unwrap();
            }
        }
        drop(files);
        rendered(&super::open(&copy, &Arc::default()).1)
    }
}

#[tokio::test]
async fn writes_acknowledged_after_a_failed_sync_are_on_the_disk() {
    // Failures of one sync, of one and the next file's, and far from and close to the end of a file.
    for (before, times) in [(1, 1), (4, 1), (4, 2), (7, 2), (10, 1)] {
        let temporary = tempfile::tempdir().unwrap();
        let (folder, pages) = (temporary.path().join("store"), Arc::<Pages>::default());
        let (storage, things) = pages.open(&folder);
        fill(&things, before).await;
        for number in 0..3 {
            pages.fail(if number == 2 { 0 } else { times });
            set(&things, &format!("after{number}"), &"y".repeat(1500)).await;
            let acknowledged = rendered(&things);
            assert_eq!(
                pages.after_a_loss_of_power(&folder),
                acknowledged,
                "{number}th write after {before}, {times} failed syncs"
            );
        }
        storage.close().await;
        assert_eq!(pages.after_a_loss_of_power(&folder), rendered(&things));
    }
}

#[tokio::test]
async fn records_visible_after_a_failed_sync_are_on_the_disk() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, pages) = (temporary.path().join("store"), Arc::<Pages>::default());
    let (storage, things) = pages.open(&folder);
    fill(&things, 3).await;
    // Zeros are written ahead of small frames.
    for number in 0..5 {
        set(&things, &format!("small{number}"), "one").await;
    }
    let before = rendered(&things).len();
    // The frame stays in memory, where every later process finds it, and no sync writes it.
    *pages.fills_up.lock().unwrap() = true;
    pages.fail(1);
    let unknown = put(&things, "unknown", "one", Expect::Any).await;
    assert!(matches!(unknown, Err(WriteError::Io(_))), "{unknown:?}");
    storage.close().await;
    drop((storage, things));

    *pages.is_full.lock().unwrap() = false;
    let (_storage, things) = pages.open(&folder);
    let found = rendered(&things);
    assert_eq!(found.len(), before + 1);
    assert_eq!(pages.after_a_loss_of_power(&folder), found);
}
