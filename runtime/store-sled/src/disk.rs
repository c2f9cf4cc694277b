//! Syncing: what makes files, and names in folders, durable.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use planesmith_store::log::LogError;

use crate::folder::failed;

/// Decides which syncs fail, so that tests can see what becomes of it.
#[doc(hidden)]
pub trait SyncFault: Send + Sync + Debug {
    /// Called in place of the sync of the file or folder `path` when it fails, and before it otherwise.
    ///
    /// # Errors
    ///
    /// The sync then fails with this error, and nothing becomes durable.
    fn before_sync(&self, path: &Path) -> io::Result<()>;
}

/// The syncs of one store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    fault: Option<Arc<dyn SyncFault>>,
}

impl Disk {
    /// Syncs that fail where `fault` says so.
    pub(crate) fn faulty(fault: Arc<dyn SyncFault>) -> Self {
        Self { fault: Some(fault) }
    }

    /// Makes the content of an open file durable, and its length.
    pub(crate) fn sync_data(&self, file: &File, path: &Path) -> io::Result<()> {
        self.check(path)?;
        file.sync_data()
    }

    /// Makes an open file durable with all that is known about it; or the names in an open folder.
    pub(crate) fn sync_all(&self, file: &File, path: &Path) -> io::Result<()> {
        self.check(path)?;
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

    fn check(&self, path: &Path) -> io::Result<()> {
        self.fault.as_ref().map_or(Ok(()), |fault| fault.before_sync(path))
    }
}
