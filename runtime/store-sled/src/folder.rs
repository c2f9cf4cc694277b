//! The folder of a store: its lock, its format, and syncs of its content.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use planesmith_store::log::LogError;

use crate::disk::Disk;
use crate::journal::Mark;

/// The content of the file `format`, up to the version.
const FORMAT: &str = "planesmith-store ";

/// The version that this crate writes.
const VERSION: &str = "3";

/// The version of a folder, which determines its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Without a mark, with journal files of version 1 only, and with a state that is not split into slots.
    One,
    /// With a state that is not split into slots.
    Two,
    Three,
}

/// Maximum number of further attempts to lock a file, and the time between two.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// A folder that is locked for this process and has a known format.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Locked while it is open.
    _lock: File,
    format: Format,
}

impl Folder {
    /// Creates the folder if needed, and locks it. The names in it and in its folder `state` are durable then.
    pub(crate) fn claim(path: &Path, disk: &Disk) -> Result<Self, LogError> {
        create(path, disk)?;
        let lock = lock(path)?;
        if !path.join("format").exists() {
            // An earlier start may have ended after it created a folder and before the folder's name was durable.
            sync_names(path, disk)?;
        }
        let format = check_format(path, disk)?;
        create(&path.join("journal"), disk)?;
        create(&path.join("state"), disk)?;
        // An earlier process may have ended before this sync.
        disk.sync_folder(path)?;
        disk.sync_folder(&path.join("state"))?;
        Ok(Self { _lock: lock, format })
    }

    /// The version of the folder, as it was found.
    pub(crate) fn format(&self) -> Format {
        self.format
    }
}

/// Returns a function that adds the failed action and the file to an error of the operating system.
pub(crate) fn failed(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> LogError {
    let context = format!("cannot {what} {}", path.display());
    move |source| match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => LogError::Full,
        _ => LogError::Io { context, source },
    }
}

/// The error for damaged content of `path`, with the next step.
pub(crate) fn damaged(path: &Path, what: &str) -> LogError {
    LogError::Unreadable(format!(
        "{} is damaged: {what}; restore the store's folder from a backup, or move it away to start empty",
        path.display()
    ))
}

/// The error for data of another version of this program.
pub(crate) fn unknown_format(path: &Path, found: &str, known: &str) -> LogError {
    LogError::Unreadable(format!(
        "{} has the store format {found}, this program knows {known}; run the version of the program that wrote it, or choose another folder",
        path.display()
    ))
}

/// An unpredictable number, so that clients cannot store bytes that look like a frame.
pub(crate) fn salt() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Creates a folder and its ancestors. Their names are durable when this returns.
pub(crate) fn create(path: &Path, disk: &Disk) -> Result<(), LogError> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = parent_of(path);
    create(parent, disk)?;
    // Stored objects include secrets.
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed("create", path)(error)),
        Ok(()) | Err(_) => disk.sync_folder(parent),
    }
}

fn parent_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Makes the name of the folder `path` durable, and those of the folders above it.
fn sync_names(path: &Path, disk: &Disk) -> Result<(), LogError> {
    for folder in path.ancestors().filter(|folder| folder.file_name().is_some()) {
        match disk.sync_folder(parent_of(folder)) {
            // A folder that this user may not read was created by another user, with its content.
            Err(LogError::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => return Ok(()),
            synced => synced?,
        }
    }
    Ok(())
}

/// Creates an empty file that only this user may read.
pub(crate) fn create_file(path: &Path) -> Result<File, LogError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(0o600);
    options.open(path).map_err(failed("create", path))
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

fn check_format(path: &Path, disk: &Disk) -> Result<Format, LogError> {
    let file = path.join("format");
    match std::fs::read_to_string(&file) {
        Ok(text) => match text.trim_end().strip_prefix(FORMAT) {
            Some(VERSION) => Ok(Format::Three),
            Some("2") => Ok(Format::Two),
            Some("1") => Ok(Format::One),
            Some(found) => Err(unknown_format(path, found, VERSION)),
            None => Err(damaged(&file, "it does not name a format")),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if path.join("journal").exists() || path.join("state").exists() {
                return Err(damaged(path, "it has data, but no file `format`"));
            }
            Mark::default().create(path, disk)?;
            upgrade_format(path, disk)?;
            Ok(Format::Three)
        }
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(damaged(&file, "it does not name a format")),
        Err(error) => Err(failed("read", &file)(error)),
    }
}

/// Sets the folder to the newest version.
///
/// The complete file is renamed into place, so that a crash cannot leave half of it.
pub(crate) fn upgrade_format(path: &Path, disk: &Disk) -> Result<(), LogError> {
    let new = path.join("format.new");
    let mut file = File::create(&new).map_err(failed("create", &new))?;
    let written = writeln!(file, "{FORMAT}{VERSION}").and_then(|()| disk.sync_all(&file, &new));
    written.map_err(failed("write", &new))?;
    std::fs::rename(&new, path.join("format")).map_err(failed("rename", &new))?;
    disk.sync_folder(path)
}

/// The content of a folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, LogError> {
    let entries = std::fs::read_dir(folder).map_err(failed("read", folder))?;
    entries
        .map(|entry| Ok(entry.map_err(failed("read", folder))?.path()))
        .collect()
}

/// Removes a file, or a folder with its content.
pub(crate) fn remove_tree(path: &Path) -> Result<(), LogError> {
    let removed = if path.is_dir() {
        for entry in entries(path)? {
            remove_tree(&entry)?;
        }
        std::fs::remove_dir(path)
    } else {
        std::fs::remove_file(path)
    };
    removed.map_err(failed("remove", path))
}
