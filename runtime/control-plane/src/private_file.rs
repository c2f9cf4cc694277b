//! Files that only their owner may read: keys, tokens, kubeconfigs.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of temporary files of this process, whose servers may share a folder.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// Creates `dir` and its missing parents, for the owner only.
///
/// # Errors
///
/// If a folder cannot be created.
pub fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Writes `content` to `path` for the owner only (0600), replacing an existing file atomically.
///
/// # Errors
///
/// If the file cannot be written; `path` then has its former content.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    replace(path, content, 0o600)
}

/// Writes `content` to `path` for all to read (0644), replacing an existing file atomically.
///
/// # Errors
///
/// If the file cannot be written; `path` then has its former content.
pub fn write_public(path: &Path, content: &[u8]) -> io::Result<()> {
    replace(path, content, 0o644)
}

/// Replaces a file, unless it is the same already: a restart needs no space on a full disk.
fn replace(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    if has(path, content, mode) {
        return Ok(());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}.{number}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    // A crashed process may have left a temporary file with other permissions.
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    // The rename is durable once the folder is synced.
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    fs::File::open(dir.unwrap_or(Path::new(".")))?.sync_all()
}

/// True if the file at `path` has this content and these permissions.
fn has(path: &Path, content: &[u8], mode: u32) -> bool {
    let has_mode = |found: fs::Metadata| found.is_file() && found.permissions().mode() & 0o7777 == mode;
    fs::symlink_metadata(path).is_ok_and(has_mode) && fs::read(path).is_ok_and(|found| found == content)
}

/// Removes the permissions of all but the owner, if there are any.
///
/// # Errors
///
/// If it does not exist, or belongs to another user.
pub fn make_private(path: &Path) -> io::Result<()> {
    let mut rights = fs::metadata(path)?.permissions();
    if rights.mode() & 0o077 == 0 {
        return Ok(());
    }
    rights.set_mode(rights.mode() & !0o077);
    fs::set_permissions(path, rights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_is_readable_by_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        write_public(&path, b"old").unwrap();
        write_private(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_the_same_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kubeconfig");
        write_private(&path, b"same").unwrap();
        let number = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(&path).unwrap());
        let first = number();
        write_private(&path, b"same").unwrap();
        assert_eq!(number(), first);
        write_public(&path, b"same").unwrap();
        assert_ne!(number(), first, "its permissions change");
        write_public(&path, b"other").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"other");
    }

    #[test]
    fn a_file_that_others_could_read_is_made_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        write_public(&path, b"key").unwrap();
        make_private(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(make_private(&dir.path().join("none")).is_err());
    }
}
