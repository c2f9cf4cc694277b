//! The backend that the engine sees.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, Loader, Log, LogError, Opened, Record};

use crate::folder::Folder;
use crate::journal::{self, Journal, Sealed};
use crate::settled::Settled;
use crate::space::Space;

/// Bytes and writes that one step settles at most. Small, so that appends hardly wait for the
/// disk, and that sled does not reuse space before a sync came in between.
const STEP_BYTES: usize = 128 << 10;
const STEP_WRITES: usize = 256;

/// The store in a folder.
#[derive(Debug)]
pub struct SledLog {
    path: PathBuf,
    space: Space,
    /// `None` once closed: another process may then use it.
    folder: Mutex<Option<Folder>>,
    /// `None` before loading and once closed. Held during an append.
    journal: Mutex<Option<Journal>>,
    /// Beside the lock, so that nobody waits for the disk to know it.
    journal_bytes: AtomicU64,
    /// `None` once closed. Held during a step of compaction, which appends do not wait for.
    settling: Mutex<Option<Settling>>,
}

#[derive(Debug)]
struct Settling {
    settled: Settled,
    /// The file that is being settled.
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    file: Sealed,
    /// The last writes of the file's keys that are still to be settled.
    rest: Vec<Record>,
}

impl SledLog {
    /// Claims the folder `path`, which is created if need be, and opens what is in it.
    ///
    /// # Errors
    ///
    /// [`LogError::InUse`] when another process has it, [`LogError::Unreadable`] when it is
    /// damaged or of a newer version, [`LogError::Io`] and [`LogError::Full`] when the operating
    /// system refuses. The texts name the folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let folder = Folder::claim(path.as_ref())?;
        let space = Space::of(path.as_ref())?;
        let settled = Settled::open(&folder.settled())?;
        Ok(Self {
            path: path.as_ref().to_owned(),
            space,
            folder: Mutex::new(Some(folder)),
            journal: Mutex::new(None),
            journal_bytes: AtomicU64::new(0),
            settling: Mutex::new(Some(Settling { settled, current: None })),
        })
    }

    fn note_size(&self, journal: &Journal) {
        self.journal_bytes.store(journal.size(), Ordering::Relaxed);
    }

    fn closed(&self) -> LogError {
        LogError::InUse(format!("{} is closed", self.path.display()))
    }
}

impl Log for SledLog {
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
        let mut settling = lock(&self.settling);
        let settled = &mut settling.as_mut().ok_or_else(|| self.closed())?.settled;
        let folder = lock(&self.folder).as_ref().map(Folder::journal);
        let folder = folder.ok_or_else(|| self.closed())?;
        let meta = settled.meta();
        let mut loaded = false;
        let journal = Journal::open(&folder, self.space.clone(), meta.through, |batches| {
            let last = batches.last().and_then(|batch| batch.records.last());
            if let Some(last) = last.map(|record| record.revision)
                && last <= meta.floor
            {
                // Settling this file was interrupted.
                let records = batches.into_iter().flat_map(|batch| batch.records).collect();
                for step in steps(&last_of_each_key(records)) {
                    settled.settle(step)?;
                }
                settled.finish(last)?;
                return Ok(false);
            }
            if !std::mem::replace(&mut loaded, true) {
                settled.load(|record| loader.state(record))?;
            }
            batches.into_iter().for_each(|batch| loader.batch(detached(batch)));
            Ok(true)
        })?;
        if !loaded {
            settled.load(|record| loader.state(record))?;
        }
        let last = journal.last().max(settled.meta().through);
        settled.close();
        self.note_size(&journal);
        *lock(&self.journal) = Some(journal);
        Ok(Opened {
            floor: meta.floor,
            last,
        })
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
        let Settling { settled, current } = settling.as_mut().ok_or_else(|| self.closed())?;
        self.space.check_for_settling()?;
        // Taken out, so that an error starts the file all over.
        let mut work = match current.take() {
            Some(work) => work,
            None => {
                let file = lock(&self.journal)
                    .as_ref()
                    .and_then(|journal| journal.oldest_behind(floor));
                let Some(file) = file else {
                    return Ok(false);
                };
                settled.begin(file.last)?;
                let records = journal::read_sealed(&self.path.join("journal"), file)?;
                Current {
                    file,
                    rest: last_of_each_key(records),
                }
            }
        };
        let step = steps(&work.rest).next().map_or(0, <[Record]>::len);
        settled.settle(&work.rest[..step])?;
        work.rest.drain(..step);
        if !work.rest.is_empty() {
            *current = Some(work);
            return Ok(true);
        }
        settled.finish(work.file.last)?;
        journal::remove_sealed(&self.path.join("journal"), work.file)?;
        let mut journal = lock(&self.journal);
        let journal = journal.as_mut().ok_or_else(|| self.closed())?;
        journal.forget(work.file);
        self.note_size(journal);
        let more = journal.oldest_behind(floor).is_some();
        if !more {
            settled.close();
        }
        Ok(more)
    }

    fn size(&self) -> u64 {
        self.journal_bytes.load(Ordering::Relaxed) + Settled::size(&self.path.join("settled"))
    }

    fn close(&self) -> Result<(), LogError> {
        let journal = lock(&self.journal).take();
        let closed = journal.map_or(Ok(()), |mut journal| journal.close());
        if let Some(mut settling) = lock(&self.settling).take() {
            settling.settled.close();
        }
        // Last: nobody may come in before the files are let go of.
        lock(&self.folder).take();
        closed
    }
}

/// The same batch, with objects that do not keep the whole file in memory.
fn detached(mut batch: Batch) -> Batch {
    for record in &mut batch.records {
        record.bytes = Bytes::copy_from_slice(&record.bytes);
    }
    batch
}

/// Older writes of a key need not be settled. Keeps the order.
fn last_of_each_key(records: Vec<Record>) -> Vec<Record> {
    let last: HashMap<Arc<str>, Revision> = records
        .iter()
        .map(|record| (Arc::clone(&record.key), record.revision))
        .collect();
    let is_last = |record: &Record| last.get(&record.key) == Some(&record.revision);
    records.into_iter().filter(is_last).collect()
}

/// Parts of `records` that are settled in one step each.
fn steps(records: &[Record]) -> impl Iterator<Item = &[Record]> {
    let mut rest = records;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fitting = rest.iter().take(STEP_WRITES).take_while(|record| {
            let first = bytes == 0;
            bytes += record.bytes.len() + record.key.len();
            first || bytes <= STEP_BYTES
        });
        let (step, behind) = rest.split_at(fitting.count());
        rest = behind;
        (!step.is_empty()).then_some(step)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic half way leaves files that the next start reads like after a crash.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
