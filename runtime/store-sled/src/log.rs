//! The backend that the engine uses.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planesmith_store::log::{Author, Batch, Change, Loader, Log, LogError, Opened, Record, WriteId};
use planesmith_store::{Alarm, AlarmKind, Alarms, Clock, Revision, is_encrypted};

use crate::authors::Authors;
use crate::disk::{Disk, DiskFault};
use crate::folder::Folder;
use crate::format::{FolderFormat, Format};
use crate::frame;
use crate::history::{JournalReader, SettledReader, SettledRecords};
use crate::journal::{self, FILE_SIZE, Journal, Mark, Recovery, Sealed};
use crate::loading;
use crate::merge;
use crate::settling::{FOR_ROUND, Progress, Settling};
use crate::space::{FileSystem, Meter, Space};
use crate::state::State;

/// Minimum bytes of journal files for a merge, however small the state is. Reading them at a start takes 0.2 s.
const MIN_MERGE: u64 = 64 << 20;

/// A merge starts when files take this part of the journal's limit (one fourth).
const PART_OF_LIMIT: u64 = 4;

/// The part of the limit that history may take before it is settled (one half).
const PART_FOR_HISTORY: u64 = 2;

/// Number of attempts to read generations, which settling may replace meanwhile; those that read a record do not count.
const READ_ATTEMPTS: u32 = 4;

/// Bytes that the journal may grow by in addition to a batch: it grows in steps, and starts new files.
const JOURNAL_GROWTH: u64 = (512 << 10) + 4096;

/// The store in a folder.
#[derive(Debug)]
pub struct SledLog {
    path: PathBuf,
    disk: Disk,
    accepts_loss: bool,
    file_size: u64,
    space: Space,
    min_merge: u64,
    /// `None` once closed: another process may use it then.
    folder: Mutex<Option<Folder>>,
    /// `None` before loading and once closed. Locked during an append.
    journal: Mutex<Option<Journal>>,
    /// `None` once closed. Locked during a step of compaction, which appends do not wait for.
    settling: Mutex<Option<Settling>>,
    reader: JournalReader,
    /// `None` before loading.
    authors: Mutex<Option<Authors>>,
    /// True once this process has written a state.
    is_author: AtomicBool,
    format: FolderFormat,
    /// Outside of the locks, so that reading it does not wait for the disk.
    journal_bytes: AtomicU64,
    /// Bytes of generations that stay until they change.
    state_bytes: AtomicU64,
    /// Bytes of the others.
    unsorted_bytes: AtomicU64,
    /// Bytes that the newest journal file has free without growing.
    headroom: AtomicU64,
    history_limit: AtomicU64,
    /// Bytes of the newest states of all keys.
    live: AtomicU64,
    /// True if the operating system refused the last write for lack of space that the measurement did not show.
    is_refused: AtomicBool,
    /// Number of the works of settling that have ended.
    settled_steps: AtomicU64,
    /// True if the next settling does not wait for the minimum amount.
    is_settling_requested: AtomicBool,
    alarms: Alarms,
}

impl SledLog {
    /// Opens and locks the folder `path`, which is created if needed.
    ///
    /// # Errors
    ///
    /// [`LogError::InUse`] when another process has locked it, [`LogError::Unreadable`] when it is damaged or of a
    /// newer version, [`LogError::Io`] and [`LogError::Full`] when the operating system refuses. The messages name the
    /// folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        Self::open_on(path.as_ref(), Disk::default(), Arc::new(FileSystem))
    }

    /// Like [`SledLog::open`], on a disk that fails as `fault` decides.
    #[doc(hidden)]
    pub fn open_faulty(path: impl AsRef<Path>, fault: Arc<dyn DiskFault>) -> Result<Self, LogError> {
        Self::open_on(path.as_ref(), Disk::faulty(fault), Arc::new(FileSystem))
    }

    /// Like [`SledLog::open`], on a disk that `meter` measures instead of the operating system.
    #[doc(hidden)]
    pub fn open_measured(path: impl AsRef<Path>, meter: Arc<dyn Meter>) -> Result<Self, LogError> {
        Self::open_on(path.as_ref(), Disk::default(), meter)
    }

    fn open_on(path: &Path, disk: Disk, meter: Arc<dyn Meter>) -> Result<Self, LogError> {
        let folder = Folder::claim(path, &disk)?;
        let format = folder.format().clone();
        let state = State::open(&path.join("state"), disk.clone())?;
        let space = Space::measured_by(path, meter)?;
        space.reserve_for(merge::needed_for_slot(space.slot()) + FOR_ROUND);
        Ok(Self {
            path: path.to_owned(),
            disk,
            accepts_loss: false,
            file_size: FILE_SIZE,
            space: space.clone(),
            min_merge: MIN_MERGE,
            journal: Mutex::new(None),
            reader: JournalReader::new(path.join("journal")),
            authors: Mutex::new(None),
            is_author: AtomicBool::new(false),
            folder: Mutex::new(Some(folder)),
            journal_bytes: AtomicU64::new(0),
            state_bytes: AtomicU64::new(state.size() - state.unsorted_size()),
            unsorted_bytes: AtomicU64::new(state.unsorted_size()),
            headroom: AtomicU64::new(0),
            history_limit: AtomicU64::new(u64::MAX),
            live: AtomicU64::new(0),
            is_refused: AtomicBool::new(false),
            settled_steps: AtomicU64::new(0),
            is_settling_requested: AtomicBool::new(false),
            settling: Mutex::new(Some(Settling::new(path.to_owned(), format.clone(), state, space))),
            format,
            alarms: Alarms::default(),
        })
    }

    /// Sets the clock, for the times of alarms. Default: that of the operating system.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self {
            alarms: Alarms::new(clock),
            ..self
        }
    }

    /// With `accepts`, opens a store whose journal is damaged without the acknowledged writes that cannot be read, and
    /// without those after them. They are logged, and the damaged files are moved aside. Clients may have seen their
    /// revisions, so the next revision is much larger, and history starts anew. Default: such a store does not open.
    #[must_use]
    pub fn accepting_loss(self, accepts: bool) -> Self {
        Self {
            accepts_loss: accepts,
            ..self
        }
    }

    /// Settles history once its journal files have `bytes`, instead of 64 MB, for tests, which write less.
    #[doc(hidden)]
    #[must_use]
    pub fn settling_at(self, bytes: u64) -> Self {
        Self {
            min_merge: bytes,
            ..self
        }
    }

    /// Starts a new journal file after `bytes`, instead of 8 MB, for tests, which write less.
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
        self.headroom.store(journal.headroom(), Ordering::Relaxed);
    }

    fn note_state_size(&self, state: &State) {
        let unsorted = state.unsorted_size();
        self.unsorted_bytes.store(unsorted, Ordering::Relaxed);
        self.state_bytes.store(state.size() - unsorted, Ordering::Relaxed);
    }

    /// Approximate bytes by which the state grows when the whole journal is settled.
    fn debt(&self) -> u64 {
        let live = self.space.size_of_state(self.live.load(Ordering::Relaxed));
        live.saturating_sub(self.state_bytes.load(Ordering::Relaxed))
    }

    /// Maximum size of the journal in bytes, including its current size.
    fn journal_limit(&self, journal: &Journal) -> u64 {
        (journal.size() + self.space.free()).saturating_sub(self.debt())
    }

    /// Updates the limit of the journal's size.
    fn note_journal_limit(&self, journal: &mut Journal) {
        let limit = self.journal_limit(journal);
        journal.fit_into(limit);
        self.history_limit.store(limit / PART_FOR_HISTORY, Ordering::Relaxed);
    }

    /// Reserves the space that settling needs, as far as there is any.
    fn note_state(&self, state: &State) {
        self.note_state_size(state);
        // A slot may be larger than its limit if its objects are.
        let largest = self.space.slot().max(state.largest());
        self.space.reserve_for(merge::needed_for_slot(largest) + FOR_ROUND);
        if let Some(journal) = lock(&self.journal).as_mut() {
            self.note_journal_limit(journal);
        }
    }

    fn journal_folder(&self) -> PathBuf {
        self.path.join("journal")
    }

    fn closed(&self) -> LogError {
        LogError::InUse(format!("{} is closed", self.path.display()))
    }

    /// The journal files that are to be settled, if there are enough.
    fn due(&self, state: &State, floor: Revision) -> Option<Vec<Sealed>> {
        let mut journal = lock(&self.journal);
        let journal = journal.as_mut()?;
        self.note_journal_limit(journal);
        let is_requested = self.is_settling_requested.load(Ordering::Relaxed);
        if (self.space.free() == 0 || is_requested)
            && let Err(error) = journal.seal(floor)
        {
            tracing::debug!(%error, "the newest file of the journal is not settled");
        }
        let files = journal.behind(floor);
        if is_requested {
            self.is_settling_requested.store(!files.is_empty(), Ordering::Relaxed);
            return (!files.is_empty()).then_some(files);
        }
        let bytes: u64 = files.iter().map(|file| file.bytes).sum();
        let threshold = settling_threshold(state.bytes(), self.min_merge, self.journal_limit(journal));
        (!files.is_empty() && bytes >= threshold).then_some(files)
    }

    /// Removes the journal files that the state includes.
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

    fn append_to(&self, batch: &Batch, from_reserve: bool) -> Result<(), LogError> {
        let mut journal = lock(&self.journal);
        let journal = journal.as_mut().ok_or_else(|| self.closed())?;
        if !self.is_author.load(Ordering::Relaxed) && batch.records.iter().any(|record| record.change != Change::Delete)
        {
            self.begin_authorship()?;
        }
        // Earlier programs would take an encrypted object for a damaged one.
        if batch.records.iter().any(|record| is_encrypted(&record.bytes)) {
            self.format.raise(Format::Four)?;
        }
        let grows = batch
            .records
            .iter()
            .map(|record| record.bytes.len() as u64)
            .sum::<u64>()
            > journal.headroom();
        let appended = journal.append(batch, from_reserve, JOURNAL_GROWTH + self.debt());
        self.note_size(journal);
        if grows {
            self.note_journal_limit(journal);
        }
        match appended.as_ref().map_err(LogError::cause) {
            Err(LogError::Full) => {
                // Writers may still find space; otherwise an alarm follows.
                self.is_refused.store(true, Ordering::Relaxed);
            }
            Err(LogError::ReadOnly(reason)) => {
                let reason = format!("no writes are accepted until the next start: {reason}");
                self.alarms.raise(AlarmKind::ReadOnly, reason, &self.path.display());
            }
            // A write from the reserve does not show that other writes have space.
            Ok(()) if !from_reserve && self.is_refused.swap(false, Ordering::Relaxed) => self.renew_shortage(),
            Ok(()) | Err(_) => {}
        }
        appended
    }

    /// Makes this process the author of the states that it writes.
    fn begin_authorship(&self) -> Result<(), LogError> {
        if let Some(authors) = lock(&self.authors).as_mut() {
            authors.forget_found()?;
        }
        self.is_author.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Updates the reason of the alarm about space, if it is raised.
    fn renew_shortage(&self) {
        if self.alarms.all().iter().any(|alarm| alarm.kind == AlarmKind::NoSpace) {
            self.note_shortage();
        }
    }

    /// Raises or clears the alarm about space.
    fn note_shortage(&self) {
        let shortage = self.space.shortage(self.debt() + 2 * JOURNAL_GROWTH);
        // Limits such as quotas are not measured.
        let is_refused = self.is_refused.load(Ordering::Relaxed);
        let refusal = || is_refused.then(|| "the disk is full; writes are refused until there is space".to_owned());
        match shortage.or_else(refusal) {
            Some(reason) => self.alarms.raise(AlarmKind::NoSpace, reason, &self.path.display()),
            None => self.alarms.clear(AlarmKind::NoSpace),
        }
    }
}

/// Bytes of journal files that settling waits for, for a state of `state` bytes and a journal limit of `limit` bytes.
///
/// Changes in all slots cause the whole state to be written again. So settling waits for journal files of the state's
/// size, and for `min_merge` bytes at least, unless space is short.
fn settling_threshold(state: u64, min_merge: u64, limit: u64) -> u64 {
    state.max(min_merge).min(limit / PART_OF_LIMIT)
}

impl Log for SledLog {
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
        let mut settling = lock(&self.settling);
        let state = &settling.as_mut().ok_or_else(|| self.closed())?.state;
        let authors = Authors::read(&self.path, &self.disk, Mark::authors_in(&self.path))?;
        let authors_key = authors.key();
        *lock(&self.authors) = Some(authors);
        loader.expect(state.bytes() + journal::size_of(&self.journal_folder()));
        loading::load(state, &self.space, loader)?;
        let recovery = Recovery {
            root: &self.path,
            disk: self.disk.clone(),
            space: self.space.clone(),
            settled: state.settled(),
            file_size: self.file_size,
            authors: authors_key,
            format: self.format.clone(),
            accepts_loss: self.accepts_loss,
        };
        let journal = loading::load_journal(recovery, state, loader)?;
        let opened = Opened {
            floor: state.newest().max(journal.floor()),
            last: journal.last().max(state.newest()),
        };
        self.note_size(&journal);
        *lock(&self.journal) = Some(journal);
        self.note_state(state);
        Ok(opened)
    }

    fn append(&self, batch: &Batch) -> Result<(), LogError> {
        self.append_to(batch, false)
    }

    fn append_from_reserve(&self, batch: &Batch) -> Result<(), LogError> {
        self.append_to(batch, true)
    }

    fn has_room(&self, bytes: u64) -> bool {
        if bytes <= self.headroom.load(Ordering::Relaxed) {
            return true;
        }
        self.space.free() >= bytes + JOURNAL_GROWTH + self.debt()
    }

    fn keeps_history(&self) -> bool {
        true
    }

    fn author(&self, prefix: &str) -> Option<Author> {
        lock(&self.authors).as_ref()?.of(prefix)
    }

    fn set_author(&self, prefix: &str, author: Author) -> Result<(), LogError> {
        let mut authors = lock(&self.authors);
        authors.as_mut().ok_or_else(|| self.closed())?.set(prefix, author)
    }

    fn read_back(&self, writes: &[WriteId]) -> Result<Vec<Option<Record>>, LogError> {
        let files = lock(&self.journal).as_ref().map(Journal::all);
        let mut found = self.reader.read(&files.ok_or_else(|| self.closed())?, writes)?;
        let mut attempts = 0;
        loop {
            let missing = writes.iter().filter(|write| !found.contains_key(&write.revision));
            let settled = match lock(&self.settling).as_ref() {
                Some(settling) => SettledReader::of(&settling.state, missing),
                None => return Err(self.closed()),
            };
            let SettledRecords { records, replaced } = settled.read(&self.space)?;
            // Settling may replace generations as long as others are read.
            attempts = if records.is_empty() { attempts + 1 } else { 0 };
            found.extend(records.into_iter().map(|record| (record.revision, record)));
            match replaced {
                None => break,
                Some(error) if attempts == READ_ATTEMPTS => return Err(error),
                Some(_) => {}
            }
        }
        let take = |write: &WriteId| found.get(&write.revision).filter(|record| record.key == write.key);
        Ok(writes
            .iter()
            .map(|write| take(write).cloned().map(frame::detached))
            .collect())
    }

    fn settled_steps(&self) -> u64 {
        self.settled_steps.load(Ordering::Relaxed)
    }

    fn settle_everything(&self) {
        self.is_settling_requested.store(true, Ordering::Relaxed);
    }

    fn note_full(&self) {
        self.note_shortage();
    }

    fn note_live(&self, bytes: u64) {
        self.live.store(bytes, Ordering::Relaxed);
    }

    fn history_limit(&self) -> u64 {
        self.history_limit.load(Ordering::Relaxed)
    }

    fn alarms(&self) -> Vec<Alarm> {
        // Space may be available again without a write that shows it.
        self.renew_shortage();
        self.alarms.all()
    }

    fn compact(&self, floor: Revision) -> Result<bool, LogError> {
        let mut settling = lock(&self.settling);
        let settling = settling.as_mut().ok_or_else(|| self.closed())?;
        if settling.is_idle() {
            self.remove_settled(settling.state.settled())?;
            if self.space.is_depleted() || self.due(&settling.state, floor).is_some() {
                self.note_state(&settling.state);
            }
        }
        let progress = settling.step(self.debt(), |state| self.due(state, floor))?;
        self.settled_steps.store(settling.ended, Ordering::Relaxed);
        match progress {
            Progress::Idle => Ok(false),
            Progress::Working => {
                self.note_state_size(&settling.state);
                Ok(true)
            }
            Progress::Settled => {
                self.remove_settled(settling.state.settled())?;
                self.note_state(&settling.state);
                Ok(self.due(&settling.state, floor).is_some())
            }
        }
    }

    fn size(&self) -> u64 {
        let sizes = [&self.journal_bytes, &self.state_bytes, &self.unsorted_bytes];
        sizes.map(|size| size.load(Ordering::Relaxed)).iter().sum()
    }

    fn close(&self) -> Result<(), LogError> {
        if let Some(mut settling) = lock(&self.settling).take() {
            settling.close();
        }
        let journal = lock(&self.journal).take();
        let closed = journal.map_or(Ok(()), |mut journal| journal.close());
        // Last: no other process may open the folder before its files are closed.
        lock(&self.folder).take();
        closed
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // After a panic half way, the next start reads the files as after a crash.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
