//! Writes and syncs, which make files, and names in folders, durable.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use planesmith_store::log::LogError;

use crate::errors::failed;

/// Makes writes and syncs of the journal fail, for tests.
#[doc(hidden)]
pub trait DiskFault: Send + Sync + Debug {
    /// Called before `file`, the file or folder `path`, is synced. The name of a new file may not exist yet.
    ///
    /// # Errors
    ///
    /// The sync fails with this error, and nothing becomes durable.
    fn before_sync(&self, path: &Path, file: &File) -> io::Result<()>;

    /// Called before `length` bytes are written at byte `at` of `file`, which is or will be the journal file `path`. Default:
    /// the write succeeds.
    ///
    /// # Errors
    ///
    /// The write ends early.
    fn before_write(&self, path: &Path, file: &File, at: u64, length: usize) -> Result<(), CutWrite> {
        let _ = (path, file, at, length);
        Ok(())
    }
}

/// A write that fails half way.
#[derive(Debug)]
#[doc(hidden)]
pub struct CutWrite {
    /// Bytes that are written before the failure.
    pub written: usize,
    /// The answer of the operating system.
    pub error: io::Error,
}

/// The disk of one store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    fault: Option<Arc<dyn DiskFault>>,
}

impl Disk {
    /// Returns a disk that fails as `fault` decides.
    pub(crate) fn faulty(fault: Arc<dyn DiskFault>) -> Self {
        Self { fault: Some(fault) }
    }

    /// Writes all of `bytes` at byte `at` of the open journal file `path`.
    pub(crate) fn write_at(&self, file: &File, path: &Path, bytes: &[u8], at: u64) -> io::Result<()> {
        if let Some(fault) = &self.fault
            && let Err(CutWrite { written, error }) = fault.before_write(path, file, at, bytes.len())
        {
            file.write_all_at(&bytes[..written.min(bytes.len())], at)?;
            return Err(error);
        }
        file.write_all_at(bytes, at)
    }

    /// Makes the content of an open file durable, and its length.
    pub(crate) fn sync_data(&self, file: &File, path: &Path) -> io::Result<()> {
        self.check(path, file)?;
        file.sync_data()
    }

    /// Makes an open file durable with its metadata, or the names in an open folder.
    pub(crate) fn sync_all(&self, file: &File, path: &Path) -> io::Result<()> {
        self.check(path, file)?;
        file.sync_all()
    }

    /// Makes the names in a folder durable.
    pub(crate) fn sync_folder(&self, path: &Path) -> Result<(), LogError> {
        self.sync_path(path)
    }

    /// Makes the content of a file durable. Any descriptor of it will do.
    pub(crate) fn sync_file(&self, path: &Path) -> Result<(), LogError> {
        self.sync_path(path)
    }

    fn sync_path(&self, path: &Path) -> Result<(), LogError> {
        let opened = File::open(path).map_err(failed("open", path))?;
        self.sync_all(&opened, path).map_err(failed("sync", path))
    }

    fn check(&self, path: &Path, file: &File) -> io::Result<()> {
        self.fault
            .as_ref()
            .map_or(Ok(()), |fault| fault.before_sync(path, file))
    }
}
