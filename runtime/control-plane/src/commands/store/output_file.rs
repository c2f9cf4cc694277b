//! A file that has its name only once it is complete.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// A private file that is being written beside its final place. It is removed when dropped.
pub(super) struct OutputFile {
    path: PathBuf,
    /// The file beside it, until it is complete.
    fresh: PathBuf,
    file: Option<File>,
}

impl OutputFile {
    /// Creates the file for `path`, which must not exist unless `replaces`. The rest of an interrupted process is overwritten.
    pub(super) fn create(path: &Path, replaces: bool) -> Result<Self> {
        let shown = path.display();
        let Some(name) = path.file_name() else {
            bail!("{shown} is no file; expected the name of the file to write, or -");
        };
        if path.is_dir() {
            bail!("{shown} is a folder; expected the name of the file to write, or -");
        }
        if !replaces && path.exists() {
            bail!("{shown} exists already; choose another name, or replace it with --force");
        }
        let mut name = name.to_owned();
        name.push(".incomplete");
        let fresh = path.with_file_name(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options
            .open(&fresh)
            .with_context(|| format!("{} cannot be created", fresh.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another process writes {shown}; wait for it, or choose another name")
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("{} cannot be locked", fresh.display()));
            }
        }
        let is_named =
            fs::metadata(&fresh).is_ok_and(|named| file.metadata().is_ok_and(|own| own.ino() == named.ino()));
        if !is_named {
            bail!("another process has just written {shown}; repeat the command");
        }
        file.set_len(0)
            .with_context(|| format!("{} cannot be written", fresh.display()))?;
        Ok(Self {
            path: path.to_owned(),
            fresh,
            file: Some(file),
        })
    }

    /// The file while it is incomplete.
    pub(super) fn fresh(&self) -> &Path {
        &self.fresh
    }

    /// Makes the content durable.
    pub(super) fn sync(&mut self) -> Result<()> {
        let synced = self.open().and_then(|file| file.sync_all());
        synced.with_context(|| format!("{} cannot be synced", self.fresh.display()))
    }

    /// Gives the file its name, which is durable when this returns.
    pub(super) fn publish(mut self) -> Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let renamed = fs::rename(&self.fresh, &self.path);
        let renamed = renamed.and_then(|()| File::open(folder.unwrap_or(Path::new(".")))?.sync_all());
        renamed.with_context(|| format!("{} cannot be put into place", self.path.display()))?;
        self.file = None;
        Ok(())
    }

    fn open(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(|| io::Error::other("the file is closed"))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open()?.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            // Left behind, it is overwritten by the next backup of this name.
            let _ = fs::remove_file(&self.fresh);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_has_its_name_once_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("backup");
        fs::write(dir.path().join("backup.incomplete"), "left by a killed process").unwrap();
        let mut file = OutputFile::create(&path, false).unwrap();
        file.write_all(b"half").unwrap();
        let refused = OutputFile::create(&path, false).err().unwrap().to_string();
        assert!(refused.starts_with("another process writes"), "{refused}");
        assert!(!path.exists());
        drop(file);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

        let mut file = OutputFile::create(&path, false).unwrap();
        file.write_all(b"whole").unwrap();
        file.sync().unwrap();
        file.publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let refused = OutputFile::create(&path, false).err().unwrap().to_string();
        assert!(refused.ends_with("or replace it with --force"), "{refused}");
        OutputFile::create(&path, true).unwrap().publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        assert!(OutputFile::create(dir.path(), true).is_err());
    }
}
