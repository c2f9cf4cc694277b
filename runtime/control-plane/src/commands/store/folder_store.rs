//! The store in a data folder whose server is stopped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use planesmith_store::log::{Log as _, LogError};
use planesmith_store::{Fidelity, LoadedSource, LogTarget, Revision, Target, TransferError};
use planesmith_store_sled::{SledLog, known_revision};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tokio::runtime::Handle;

use super::work::Work;
use crate::data_folder::DataFolder;
use crate::storage::{INCOMING, STORE};
use crate::store_scheme::{OnRead, OpenStore};

/// A data folder. It is locked from the first use on.
pub(super) struct FolderStore {
    path: PathBuf,
    program: &'static str,
    runtime: Handle,
    /// The suffix of the folder that a replaced store is moved to; `None` if nothing is replaced.
    replaced: Option<String>,
    lock: Option<DataFolder>,
    /// The new content.
    incoming: Option<SledLog>,
}

impl FolderStore {
    /// Names the store in the data folder `path`. An existing store is moved aside by [`OpenStore::commit`] if `replaces`.
    pub(super) fn new(path: &Path, replaces: bool, work: &Work<'_>) -> Self {
        Self::with_suffix(path, replaces.then(|| format!("replaced-{}", work.now())), work)
    }

    /// The same for a damaged store, which is moved aside as such.
    pub(super) fn damaged(path: &Path, work: &Work<'_>) -> Self {
        Self::with_suffix(path, Some(format!("damaged-{}", work.now())), work)
    }

    fn with_suffix(path: &Path, replaced: Option<String>, work: &Work<'_>) -> Self {
        Self {
            path: path.to_owned(),
            program: work.program.name,
            runtime: work.runtime().clone(),
            replaced,
            lock: None,
            incoming: None,
        }
    }

    /// Locks the data folder as a server does.
    pub(super) fn lock(&mut self) -> Result<(), TransferError> {
        if self.lock.is_none() {
            let opened = self.runtime.block_on(DataFolder::open(&self.path, self.program));
            self.lock = Some(opened.map_err(|error| TransferError::Target(format!("{error:#}")))?);
        }
        Ok(())
    }

    fn store(&self) -> PathBuf {
        self.path.join(STORE)
    }

    fn incoming_path(&self) -> PathBuf {
        self.path.join(INCOMING)
    }

    fn close_incoming(&mut self) -> Result<(), LogError> {
        self.incoming.take().map_or(Ok(()), |log| log.close())
    }

    /// Exchanges the store with the new one, so that no crash leaves neither. The former store never has the name of an
    /// unfinished one, which a repetition removes.
    fn exchange(&self, suffix: &str) -> std::io::Result<PathBuf> {
        let (store, incoming) = (self.store(), self.incoming_path());
        let aside = self.path.join(format!("{STORE}.{suffix}"));
        fs::rename(&incoming, &aside)?;
        self.sync()?;
        match renameat_with(CWD, &aside, CWD, &store, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(aside),
            // The file system cannot exchange: between the two steps a server refuses to start.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                fs::rename(&aside, &incoming)?;
                fs::rename(&store, &aside)?;
                fs::rename(&incoming, &store)?;
                Ok(aside)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn sync(&self) -> std::io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    fn failed(&self, what: &str, error: &std::io::Error) -> TransferError {
        TransferError::Target(format!("cannot {what} in {}: {error}", self.path.display()))
    }
}

/// Reads the store in the folder `path`.
fn read(path: &Path, program: &str, now: u64, progress: &mut OnRead<'_>) -> Result<LoadedSource, TransferError> {
    let mut load = || {
        let log = SledLog::open(path)?;
        let source = LoadedSource::of_log(&log, program, now, progress)?;
        log.close()?;
        Ok(source)
    };
    load().map_err(|error| match error {
        TransferError::Log(LogError::DataLoss(text) | LogError::Unreadable(text)) => {
            let advice = "`store check` lists the damage, and `store repair` keeps what is legible";
            TransferError::Log(LogError::Unreadable(format!("{text}; {advice}")))
        }
        error => error,
    })
}

impl OpenStore for FolderStore {
    fn place(&self) -> String {
        self.store().display().to_string()
    }

    fn is_canonical(&self) -> bool {
        true
    }

    fn read(&mut self, program: &str, now: u64, progress: &mut OnRead<'_>) -> Result<LoadedSource, TransferError> {
        let store = self.store();
        if !store.is_dir() {
            return Err(TransferError::Target(format!(
                "there is no store in {}",
                self.path.display()
            )));
        }
        self.lock()?;
        read(&store, program, now, progress)
    }

    fn known_revision(&mut self) -> Result<Revision, TransferError> {
        Ok(known_revision(&self.store()))
    }

    fn begin(&mut self, _revision: Revision) -> Result<(), TransferError> {
        self.lock()?;
        let has_content = fs::read_dir(self.store()).is_ok_and(|mut entries| entries.next().is_some());
        if has_content && self.replaced.is_none() {
            return Err(TransferError::Target(format!(
                "{} has objects; choose another folder, or add --replace, which moves them to a folder beside it",
                self.store().display()
            )));
        }
        self.abandon()?;
        self.incoming = Some(SledLog::open(self.incoming_path())?);
        Ok(())
    }

    fn target(&mut self) -> Result<Box<dyn Target + '_>, TransferError> {
        let log = self
            .incoming
            .as_ref()
            .ok_or_else(|| TransferError::Target("nothing was begun".to_owned()))?;
        Ok(Box::new(LogTarget::new(log)?))
    }

    fn fidelity(&self) -> Fidelity {
        Fidelity::Exact
    }

    fn reread(&mut self, now: u64, progress: &mut OnRead<'_>) -> Result<LoadedSource, TransferError> {
        self.close_incoming()?;
        read(&self.incoming_path(), self.program, now, progress)
    }

    fn commit(&mut self) -> Result<Vec<String>, TransferError> {
        self.close_incoming()?;
        let store = self.store();
        let mut notes = Vec::new();
        match &self.replaced {
            Some(suffix) if store.exists() => {
                let aside = self
                    .exchange(suffix)
                    .map_err(|error| self.failed("exchange the stores", &error))?;
                notes.push(format!("the former store is in {}", aside.display()));
            }
            Some(_) | None => {
                if store.exists() {
                    // Empty, as begin has found; otherwise this fails.
                    fs::remove_dir(&store).map_err(|error| self.failed("remove the empty store", &error))?;
                }
                fs::rename(self.incoming_path(), &store).map_err(|error| self.failed("rename the store", &error))?;
            }
        }
        self.sync().map_err(|error| self.failed("sync the names", &error))?;
        Ok(notes)
    }

    fn abandon(&mut self) -> Result<(), TransferError> {
        self.close_incoming()?;
        match fs::remove_dir_all(self.incoming_path()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.failed("remove a store", &error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
