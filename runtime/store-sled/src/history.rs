//! Reads single writes again: from the journal, or from the state if they are the last ones of their keys.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record, WriteId};

use crate::journal::{FrameIndex, Sealed};
use crate::space::Space;
use crate::state::{GenerationSet, State};
use crate::worker::{self, Outcome, Worker};

/// Time that reading waits for a generation before it checks that sled makes progress.
const STEP: Duration = Duration::from_millis(50);

/// The files of the journal, as they are read again.
#[derive(Debug)]
pub(crate) struct JournalReader {
    folder: PathBuf,
    indexes: Mutex<HashMap<u64, Arc<FrameIndex>>>,
}

impl JournalReader {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            indexes: Mutex::default(),
        }
    }

    /// Those of `writes` that are in `files`, which are all files of the journal, oldest first. A file that is removed meanwhile
    /// has none.
    pub(crate) fn read(&self, files: &[Sealed], writes: &[WriteId]) -> Result<HashMap<Revision, Record>, LogError> {
        let mut revisions: Vec<Revision> = writes.iter().map(|write| write.revision).collect();
        revisions.sort_unstable();
        revisions.dedup();
        let mut found = HashMap::new();
        let file_of = |revision: &Revision| files.partition_point(|file| file.last < *revision);
        for wanted in revisions.chunk_by(|one, next| file_of(one) == file_of(next)) {
            let Some(file) = wanted.first().and_then(|first| files.get(file_of(first))) else {
                continue;
            };
            let newest = wanted.last().copied().unwrap_or_default();
            let read = self.index(*file, newest).and_then(|index| {
                index.read(&self.folder, wanted, |record| {
                    found.insert(record.revision, record);
                })
            });
            match read {
                Err(error) if !is_missing(&error) => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        self.indexes()
            .retain(|number, _| files.iter().any(|file| file.number == *number));
        Ok(found)
    }

    /// The index of `file`, up to the revision `newest` at least.
    fn index(&self, file: Sealed, newest: Revision) -> Result<Arc<FrameIndex>, LogError> {
        let known = self.indexes().get(&file.number).map(Arc::clone);
        if let Some(known) = known.filter(|known| known.last() >= newest) {
            return Ok(known);
        }
        let index = Arc::new(FrameIndex::of(&self.folder, file)?);
        self.indexes().insert(file.number, Arc::clone(&index));
        Ok(index)
    }

    fn indexes(&self) -> MutexGuard<'_, HashMap<u64, Arc<FrameIndex>>> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wanted records of some generations.
#[derive(Debug, Default)]
pub(crate) struct SettledRecords {
    pub(crate) records: Vec<Record>,
    /// The error of a generation without any of its records here: settling has replaced it, or it is damaged.
    pub(crate) replaced: Option<LogError>,
}

/// The generations with the last states of some keys.
#[derive(Debug)]
pub(crate) struct SettledReader {
    sets: Vec<Arc<GenerationSet>>,
    wanted: HashMap<Arc<str>, Revision>,
}

impl SettledReader {
    /// Returns the generations of `state` with those of `writes` that are the last ones of their keys.
    pub(crate) fn of<'a>(state: &State, writes: impl Iterator<Item = &'a WriteId>) -> Self {
        let mut sets: Vec<Arc<GenerationSet>> = Vec::new();
        let mut wanted = HashMap::new();
        for WriteId { key, revision } in writes {
            let part = state.part_of(key).filter(|part| part.through >= *revision);
            let Some(set) = part.and_then(|part| part.generation_set.as_ref()) else {
                continue;
            };
            wanted.insert(Arc::clone(key), *revision);
            if !sets.iter().any(|known| Arc::ptr_eq(known, set)) {
                sets.push(Arc::clone(set));
            }
        }
        Self { sets, wanted }
    }

    /// Reads the records, in a thread of its own: sled, which reads some generations, may hang.
    ///
    /// # Errors
    ///
    /// There is no space for a copy of a generation beside what writes need.
    pub(crate) fn read(self, space: &Space) -> Result<SettledRecords, LogError> {
        if self.sets.is_empty() {
            return Ok(SettledRecords::default());
        }
        let copy = self.sets.iter().map(|set| set.size_of_copy()).max();
        if space.free() < copy.unwrap_or(0) {
            return Err(LogError::Full);
        }
        let space = space.clone();
        let mut worker = Worker::start(move |pulse| {
            let mut found = SettledRecords::default();
            for set in &self.sets {
                let mut records = Vec::new();
                let read = set.read(&space, pulse, |record| {
                    if self.wanted.get(&record.key) == Some(&record.revision) {
                        records.push(record);
                    }
                    Ok(())
                });
                match read {
                    Ok(()) => found.records.append(&mut records),
                    Err(error) if may_be_replaced(&error) => found.replaced = Some(error),
                    Err(error) => return Err(error),
                }
            }
            Ok(found)
        })?;
        loop {
            match worker.wait(STEP) {
                Outcome::Running => {}
                Outcome::Done(result) => return result,
                Outcome::Stuck => return Err(worker::stuck()),
            }
        }
    }
}

/// True if a file was removed meanwhile.
fn is_missing(error: &LogError) -> bool {
    matches!(error, LogError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
}

/// True if `error` may come from a generation that was removed meanwhile: without its folder, or without some of its files.
fn may_be_replaced(error: &LogError) -> bool {
    is_missing(error) || matches!(error, LogError::Unreadable(_))
}
