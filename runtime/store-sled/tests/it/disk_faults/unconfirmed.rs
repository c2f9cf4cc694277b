//! A journal file that was given up may have its name again after a loss of power.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use planesmith_store::conformance::{THINGS, WordIndex, set};
use planesmith_store::{Storage, StorageOptions};
use planesmith_store_sled::{DiskFault, SledLog};

use super::{ENOSPC, fill, open};
use crate::cut::{copy_folder, rendered};

/// Fails the first sync of the journal's folder, and then the next one of a file.
#[derive(Debug)]
struct Unconfirmed {
    journal: PathBuf,
    /// Receives the file that is given up.
    copy: PathBuf,
    failures: AtomicU32,
    /// True once the folder was synced without the file.
    is_removed: AtomicBool,
}

impl DiskFault for Unconfirmed {
    fn before_sync(&self, path: &Path, _file: &File) -> io::Result<()> {
        let given_up = self.journal.join("0000000002.journal");
        let is_next = match self.failures.load(Ordering::SeqCst) {
            0 => path == self.journal && given_up.exists(),
            1 => path == given_up,
            _ => false,
        };
        if !is_next {
            if path == self.journal && self.failures.load(Ordering::SeqCst) == 2 && !given_up.exists() {
                self.is_removed.store(true, Ordering::SeqCst);
            }
            return Ok(());
        }
        if self.failures.fetch_add(1, Ordering::SeqCst) == 0 {
            fs::copy(given_up, &self.copy)?;
        }
        Err(io::Error::from_raw_os_error(ENOSPC))
    }
}

#[tokio::test]
async fn a_file_that_was_given_up_takes_no_acknowledged_write() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, copy) = (temporary.path().join("store"), temporary.path().join("copy"));
    let faults = Arc::new(Unconfirmed {
        journal: folder.join("journal"),
        copy: copy.clone(),
        failures: AtomicU32::new(0),
        is_removed: AtomicBool::new(false),
    });
    let log = SledLog::open_faulty(&folder, Arc::clone(&faults) as Arc<Unconfirmed>).unwrap();
    let log = log.settling_at(0).rolling_at(100_000);
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    fill(&things, 9).await;
    // The next file is created, but not known to be durable, and then there is no space for it.
    set(&things, "more", &"x".repeat(10_000)).await;
    assert_eq!(faults.failures.load(Ordering::SeqCst), 2);
    let before = rendered(&things);

    // After a loss of power the disk may have the file, unless the folder was synced without it before the write was answered.
    let lost = temporary.path().join("lost");
    copy_folder(&folder, &lost);
    if !faults.is_removed.load(Ordering::SeqCst) {
        fs::copy(&copy, lost.join("journal/0000000002.journal")).unwrap();
    }
    assert_eq!(rendered(&open(&lost, &Arc::default()).1), before);
}
