//! The backend that the engine sees.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, Loader, Log, LogError, Opened, Record};

use crate::folder::Folder;
use crate::journal::{self, Journal};
use crate::merge::{Merge, Step};
use crate::space::Space;
use crate::state::State;

/// The store in a folder.
#[derive(Debug)]
pub struct SledLog {
    path: PathBuf,
    space: Space,
    /// `None` once closed: another process may then use it.
    folder: Mutex<Option<Folder>>,
    /// `None` before loading and once closed. Held during an append.
    journal: Mutex<Option<Journal>>,
    /// `None` once closed. Held during a step of compaction, which appends do not wait for.
    settling: Mutex<Option<Settling>>,
    /// Beside the locks, so that nobody waits for the disk to know them.
    journal_bytes: AtomicU64,
    state_bytes: AtomicU64,
}

#[derive(Debug)]
struct Settling {
    state: State,
    merge: Option<Merge>,
}

impl SledLog {
    /// Claims the folder `path`, which is created if need be.
    ///
    /// # Errors
    ///
    /// [`LogError::InUse`] when another process has it, [`LogError::Unreadable`] when it is
    /// damaged or of a newer version, [`LogError::Io`] and [`LogError::Full`] when the operating
    /// system refuses. The texts name the folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let folder = Folder::claim(path.as_ref())?;
        let state = State::open(&path.as_ref().join("state"))?;
        Ok(Self {
            path: path.as_ref().to_owned(),
            space: Space::of(path.as_ref())?,
            folder: Mutex::new(Some(folder)),
            journal: Mutex::new(None),
            journal_bytes: AtomicU64::new(0),
            state_bytes: AtomicU64::new(state.size()),
            settling: Mutex::new(Some(Settling { state, merge: None })),
        })
    }

    fn note_size(&self, journal: &Journal) {
        self.journal_bytes.store(journal.size(), Ordering::Relaxed);
    }

    fn journal_folder(&self) -> PathBuf {
        self.path.join("journal")
    }

    fn closed(&self) -> LogError {
        LogError::InUse(format!("{} is closed", self.path.display()))
    }

    /// The next merge that is worth its while.
    ///
    /// A merge rewrites the whole state, so it waits for journal files of half the state's size:
    /// then an object is written a few times in its life, however large the state is.
    fn next_merge(&self, state: &State, floor: Revision) -> Option<Merge> {
        let journal = lock(&self.journal);
        let files = journal.as_ref()?.behind(floor);
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let worthwhile = !files.is_empty() && bytes >= state.size() / 2;
        worthwhile.then(|| Merge::new(&self.journal_folder(), files))
    }
}

impl Log for SledLog {
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
        let mut settling = lock(&self.settling);
        let state = &mut settling.as_mut().ok_or_else(|| self.closed())?.state;
        if let Some(mut reader) = state.reader()? {
            while let Some(records) = reader.next()? {
                records.into_iter().for_each(|record| loader.state(detached(record)));
            }
        }
        let through = state.through();
        let journal = Journal::open(&self.journal_folder(), self.space.clone(), through, |mut batch| {
            batch.records = batch.records.into_iter().map(detached).collect();
            loader.batch(batch);
        })?;
        let last = journal.last().max(through);
        self.note_size(&journal);
        *lock(&self.journal) = Some(journal);
        Ok(Opened { floor: through, last })
    }

    fn append(&self, batch: &Batch) -> Result<(), LogError> {
        let mut journal = lock(&self.journal);
        let journal = journal.as_mut().ok_or_else(|| self.closed())?;
        let appended = journal.append(batch);
        self.note_size(journal);
        appended
    }

    fn compact(&self, floor: Revision) -> Result<bool, LogError> {
        let mut settling = lock(&self.settling);
        let Settling { state, merge } = settling.as_mut().ok_or_else(|| self.closed())?;
        // Taken out, so that an error starts all over.
        let Some(work) = merge.take().or_else(|| self.next_merge(state, floor)) else {
            return Ok(false);
        };
        let (writer, files) = match work.step(state, &self.space)? {
            Step::More(work) => {
                *merge = Some(work);
                return Ok(true);
            }
            Step::Complete(writer, files) => (writer, files),
        };
        state.replace(writer)?;
        self.state_bytes.store(state.size(), Ordering::Relaxed);
        for file in files {
            journal::remove_sealed(&self.journal_folder(), file)?;
            if let Some(journal) = lock(&self.journal).as_mut() {
                journal.forget(file);
                self.note_size(journal);
            }
        }
        Ok(self.next_merge(state, floor).is_some())
    }

    fn size(&self) -> u64 {
        self.journal_bytes.load(Ordering::Relaxed) + self.state_bytes.load(Ordering::Relaxed)
    }

    fn close(&self) -> Result<(), LogError> {
        lock(&self.settling).take();
        let journal = lock(&self.journal).take();
        let closed = journal.map_or(Ok(()), |mut journal| journal.close());
        // Last: nobody may come in before the files are let go of.
        lock(&self.folder).take();
        closed
    }
}

/// The same record, with an object that does not keep the memory of a whole file.
fn detached(mut record: Record) -> Record {
    record.bytes = Bytes::copy_from_slice(&record.bytes);
    record
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic half way leaves files that the next start reads like after a crash.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
