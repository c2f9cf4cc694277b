//! Files and folders that only this user may read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use planesmith_store::log::LogError;

use crate::disk::Disk;
use crate::errors::failed;

/// Creates a folder and its ancestors. Their names are durable when this returns.
pub(crate) fn create_folder(path: &Path, disk: &Disk) -> Result<(), LogError> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = parent_of(path);
    create_folder(parent, disk)?;
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
pub(crate) fn sync_names(path: &Path, disk: &Disk) -> Result<(), LogError> {
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
