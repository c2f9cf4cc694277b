//! The folder of a store: its lock, and the files of an empty store.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use planesmith_store::log::LogError;

use crate::disk::Disk;
use crate::errors::failed;
use crate::file_system::{create_folder, sync_names};
use crate::format::{self, FolderFormat};
use crate::journal::Mark;

/// Maximum number of further attempts to lock a file, and the time between two.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// A folder that is locked for this process and has a known format.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Locked while it is open.
    _lock: File,
    format: FolderFormat,
}

impl Folder {
    /// Creates the folder if needed, and locks it. The names in it and in its folder `state` are durable then.
    pub(crate) fn claim(path: &Path, disk: &Disk) -> Result<Self, LogError> {
        create_folder(path, disk)?;
        let lock = lock(path)?;
        if !path.join(format::NAME).exists() {
            // An earlier start may have ended after it created a folder and before the folder's name was durable.
            sync_names(path, disk)?;
        }
        let format = match FolderFormat::of(path, disk)? {
            Some(format) => format,
            None => {
                Mark::default().create(path, disk)?;
                FolderFormat::create(path, disk)?
            }
        };
        create_folder(&path.join("journal"), disk)?;
        create_folder(&path.join("state"), disk)?;
        // An earlier process may have ended before this sync.
        disk.sync_folder(path)?;
        disk.sync_folder(&path.join("state"))?;
        Ok(Self { _lock: lock, format })
    }

    /// The version of the folder.
    pub(crate) fn format(&self) -> &FolderFormat {
        &self.format
    }
}

/// Locks the folder at `path` for this process, until the result is dropped. Waits up to a second for another process
/// that is about to end.
///
/// # Errors
///
/// [`LogError::InUse`] when another process has locked it; another error when its file `lock` cannot be created or
/// locked.
pub fn lock(path: &Path) -> Result<File, LogError> {
    let file = path.join("lock");
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&file)
        .map_err(failed("open", &file))?;
    let mut attempts = 0;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            // A process that is ending, or one that another has just started and that still has its files, releases the
            // lock soon.
            Err(TryLockError::WouldBlock) if attempts < LOCK_ATTEMPTS => attempts += 1,
            Err(TryLockError::WouldBlock) => {
                return Err(LogError::InUse(format!(
                    "{} is used by another process; stop it, or choose another folder",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", &file)(error)),
        }
        std::thread::sleep(LOCK_PAUSE);
    }
}
