//! The backend that the engine sees.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use planesmith_store::log::{Batch, Loader, Log, LogError, Opened, Record};
use planesmith_store::{Alarm, AlarmKind, Alarms, Revision};

use crate::disk::{Disk, SyncFault};
use crate::folder::Folder;
use crate::generation::{Generations, Made};
use crate::journal::{self, Journal, Recovery, Sealed};
use crate::merge::Merge;
use crate::space::Space;
use crate::worker::{self, Outcome, Worker, other};

/// How long a step of compaction waits for the thread that does the work.
const STEP: Duration = Duration::from_millis(50);

/// How long closing waits for it.
const CLOSE: Duration = Duration::from_secs(5);

/// Bytes of journal files that are worth a merge, however small the state is. Reading them at a start takes 0.2 s.
const WORTHWHILE: u64 = 64 << 20;

/// Bytes of a journal file. The smaller the files, the sooner their space comes back; each costs three more syncs.
const FILE_SIZE: u64 = 8 << 20;

/// A merge does not wait for files that take more than this part of the free space.
const PART_OF_FREE: u64 = 8;

/// Records on their way from sled to the engine at the start.
const LOADING: usize = 64;

/// The store in a folder.
#[derive(Debug)]
pub struct SledLog {
    path: PathBuf,
    disk: Disk,
    accepts_loss: bool,
    file_size: u64,
    space: Space,
    worthwhile: u64,
    /// `None` once closed: another process may then use it.
    folder: Mutex<Option<Folder>>,
    /// `None` before loading and once closed. Held during an append.
    journal: Mutex<Option<Journal>>,
    /// `None` once closed. Held during a step of compaction, which appends do not wait for.
    settling: Mutex<Option<Settling>>,
    /// Beside the locks, so that nobody waits for the disk to know them.
    journal_bytes: AtomicU64,
    state_bytes: AtomicU64,
    alarms: Alarms,
}

#[derive(Debug)]
struct Settling {
    generations: Generations,
    merge: Option<Worker<Made>>,
    /// A merge that hangs. There is no other while it does.
    stuck: Option<Worker<Made>>,
}

impl Settling {
    fn new(generations: Generations) -> Self {
        Self {
            generations,
            merge: None,
            stuck: None,
        }
    }

    /// An error while a merge hangs.
    fn check_stuck(&mut self) -> Result<(), LogError> {
        let hangs = |stuck: &mut Worker<Made>| !matches!(stuck.wait(Duration::ZERO), Outcome::Done(_));
        if self.stuck.as_mut().is_some_and(hangs) {
            return Err(worker::stuck());
        }
        self.stuck = None;
        Ok(())
    }

    /// The result of the merge, if there is one by now.
    fn finished(&mut self) -> Option<Result<Made, LogError>> {
        match self.merge.as_mut()?.wait(STEP) {
            Outcome::Running => None,
            Outcome::Done(result) => {
                self.merge = None;
                Some(result)
            }
            Outcome::Stuck => {
                self.stuck = self.merge.take();
                self.stuck.iter().for_each(Worker::cancel);
                Some(Err(worker::stuck()))
            }
        }
    }
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
        Self::open_on(path.as_ref(), Disk::default())
    }

    /// As [`SledLog::open`], with syncs that fail where `fault` says so.
    #[doc(hidden)]
    pub fn open_faulty(path: impl AsRef<Path>, fault: Arc<dyn SyncFault>) -> Result<Self, LogError> {
        Self::open_on(path.as_ref(), Disk::faulty(fault))
    }

    fn open_on(path: &Path, disk: Disk) -> Result<Self, LogError> {
        let folder = Folder::claim(path, &disk)?;
        let generations = Generations::open(&path.join("state"), disk.clone())?;
        Ok(Self {
            path: path.to_owned(),
            disk,
            accepts_loss: false,
            file_size: FILE_SIZE,
            space: Space::of(path)?,
            worthwhile: WORTHWHILE,
            folder: Mutex::new(Some(folder)),
            journal: Mutex::new(None),
            journal_bytes: AtomicU64::new(0),
            state_bytes: AtomicU64::new(generations.size()),
            settling: Mutex::new(Some(Settling::new(generations))),
            alarms: Alarms::default(),
        })
    }

    /// With `accepts`, opens a store whose journal is damaged without the acknowledged writes that cannot be read any more,
    /// and without those behind them. They are logged, and the damaged files are put aside. Clients may have seen
    /// their revisions, so the next revision is much larger, and history starts anew. Default: such a store does not open.
    #[must_use]
    pub fn accepting_loss(self, accepts: bool) -> Self {
        Self {
            accepts_loss: accepts,
            ..self
        }
    }

    /// Settles history once its journal files have so many bytes, instead of 64 MB: tests do not write as much.
    #[doc(hidden)]
    #[must_use]
    pub fn settling_at(self, bytes: u64) -> Self {
        Self {
            worthwhile: bytes,
            ..self
        }
    }

    /// Starts a new journal file after so many bytes, instead of 8 MB: tests do not write as much.
    #[doc(hidden)]
    #[must_use]
    pub fn rolling_at(self, bytes: u64) -> Self {
        Self {
            file_size: bytes,
            ..self
        }
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
    fn next_merge(&self, generations: &Generations, floor: Revision) -> Option<Merge> {
        let files = lock(&self.journal).as_ref()?.behind(floor);
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let patience = patience(generations.bytes(), self.worthwhile, self.space.free());
        let is_worthwhile = !files.is_empty() && bytes >= patience;
        is_worthwhile.then(|| Merge {
            journal: self.journal_folder(),
            files,
            generations: generations.clone(),
            space: self.space.clone(),
        })
    }

    /// Removes the journal files that are part of the state.
    fn remove_settled(&self, through: Revision) -> Result<(), LogError> {
        let settled: Vec<Sealed> = lock(&self.journal)
            .as_ref()
            .map_or_else(Vec::new, |journal| journal.behind(through));
        for file in settled {
            journal::remove_sealed(&self.journal_folder(), file)?;
            if let Some(journal) = lock(&self.journal).as_mut() {
                journal.forget(file);
                self.note_size(journal);
            }
        }
        Ok(())
    }

    /// Starts the next merge, if there is one and none hangs.
    fn start_merge(&self, settling: &mut Settling, floor: Revision) -> Result<bool, LogError> {
        self.remove_settled(settling.generations.through())?;
        settling.check_stuck()?;
        let Some(merge) = self.next_merge(&settling.generations, floor) else {
            return Ok(false);
        };
        settling.merge = Some(Worker::start(move |pulse| merge.run(pulse))?);
        Ok(true)
    }

    /// Puts a finished generation into place.
    fn publish(&self, generations: &mut Generations, made: Made) -> Result<(), LogError> {
        let published = generations.publish(made);
        self.state_bytes.store(generations.size(), Ordering::Relaxed);
        published?;
        self.remove_settled(generations.through())
    }
}

/// How many bytes of journal files a merge waits for, beside a state of so many bytes and with so much space free.
///
/// A merge rewrites the whole state, which costs ten times as much per object as the journal does. So it waits for
/// journal files of the state's size, and for as much as is `worthwhile` at all, unless space is short.
fn patience(state: u64, worthwhile: u64, free: u64) -> u64 {
    state.max(worthwhile).min(free / PART_OF_FREE)
}

/// Hands the records of the newest generation to `loader`, from a thread that sled may hang.
fn load_generation(generations: &Generations, loader: &mut dyn Loader) -> Result<(), LogError> {
    let Some(generation) = generations.newest().cloned() else {
        return Ok(());
    };
    let (sender, records) = sync_channel(LOADING);
    let mut worker = Worker::start(move |pulse| {
        let gone = |_| other("nobody waits for it any more");
        generation.read(pulse, |record| sender.send(record).map_err(gone))
    })?;
    loop {
        match records.recv_timeout(STEP) {
            Ok(record) => loader.state(record),
            // The result follows.
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => match worker.wait(Duration::ZERO) {
                Outcome::Running => {}
                Outcome::Done(result) => return result,
                Outcome::Stuck => return Err(worker::stuck()),
            },
        }
    }
    loop {
        match worker.wait(STEP) {
            Outcome::Running => {}
            Outcome::Done(result) => return result,
            Outcome::Stuck => return Err(worker::stuck()),
        }
    }
}

impl Log for SledLog {
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
        let mut settling = lock(&self.settling);
        let generations = &settling.as_mut().ok_or_else(|| self.closed())?.generations;
        load_generation(generations, loader)?;
        let through = generations.through();
        let visit = |mut batch: Batch| {
            batch.records = batch.records.into_iter().map(detached).collect();
            loader.batch(batch);
        };
        let recovery = Recovery {
            root: &self.path,
            disk: self.disk.clone(),
            space: self.space.clone(),
            settled: through,
            file_size: self.file_size,
            format: lock(&self.folder).as_ref().ok_or_else(|| self.closed())?.format(),
            accepts_loss: self.accepts_loss,
        };
        let journal = recovery.open(visit)?;
        let opened = Opened {
            floor: through.max(journal.floor()),
            last: journal.last().max(through),
        };
        self.note_size(&journal);
        *lock(&self.journal) = Some(journal);
        Ok(opened)
    }

    fn append(&self, batch: &Batch) -> Result<(), LogError> {
        let mut journal = lock(&self.journal);
        let journal = journal.as_mut().ok_or_else(|| self.closed())?;
        let appended = journal.append(batch);
        self.note_size(journal);
        match &appended {
            Ok(()) => self.alarms.clear(AlarmKind::NoSpace),
            Err(LogError::Full) => {
                let reason = "the disk is full; writes are refused until there is space";
                self.alarms.raise(AlarmKind::NoSpace, reason, &self.path.display());
            }
            Err(LogError::ReadOnly(reason)) => {
                let reason = format!("no writes are accepted until the next start: {reason}");
                self.alarms.raise(AlarmKind::ReadOnly, reason, &self.path.display());
            }
            Err(_) => {}
        }
        appended
    }

    fn alarms(&self) -> Vec<Alarm> {
        self.alarms.all()
    }

    fn compact(&self, floor: Revision) -> Result<bool, LogError> {
        let mut settling = lock(&self.settling);
        let settling = settling.as_mut().ok_or_else(|| self.closed())?;
        if settling.merge.is_none() && !self.start_merge(settling, floor)? {
            return Ok(false);
        }
        let Some(result) = settling.finished() else {
            return Ok(true);
        };
        result.and_then(|made| self.publish(&mut settling.generations, made))?;
        Ok(self.next_merge(&settling.generations, floor).is_some())
    }

    fn size(&self) -> u64 {
        self.journal_bytes.load(Ordering::Relaxed) + self.state_bytes.load(Ordering::Relaxed)
    }

    fn close(&self) -> Result<(), LogError> {
        let settling = lock(&self.settling).take();
        if let Some(mut merge) = settling.and_then(|settling| settling.merge) {
            merge.cancel();
            // Its files are in nobody's way: if it does not end in time, the next start removes them.
            merge.wait(CLOSE);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_wait_for_what_is_worth_them_unless_space_is_short() {
        const MB: u64 = 1 << 20;
        for (state, free, expected) in [
            (0, 1000 * MB, 64 * MB),
            (10 * MB, 1000 * MB, 64 * MB),
            (100 * MB, 1000 * MB, 100 * MB),
            (100 * MB, 400 * MB, 50 * MB),
            (0, 80 * MB, 10 * MB),
            (100 * MB, 0, 0),
        ] {
            assert_eq!(patience(state, WORTHWHILE, free), expected, "{state} of {free}");
        }
    }
}
