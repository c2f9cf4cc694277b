//! Reading the folder of a stopped store as far as possible, for its check and its repair.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use planesmith_store::log::{Change, LogError, Record};
use planesmith_store::{Amount, Revision};

use crate::errors::{is_of_another_version, reason_of};
use crate::format::{self, Format};
use crate::generation;
use crate::journal::{JournalFolder, Mark};
use crate::space::{FileSystem, Space};
use crate::state::{FoundGeneration, StateInspection};
use crate::worker::{self, Outcome, Worker};

/// Time that reading waits for a generation before it checks that sled makes progress.
const STEP: Duration = Duration::from_millis(50);

/// The content of the folder of a stopped store, and its damage. Nothing in the folder is changed.
#[derive(Debug, Default)]
pub struct Inspection {
    /// The files and folders that a start reads, in this order.
    pub files: Vec<InspectedFile>,
    /// The newest legible states, in the order of their revisions.
    pub states: Vec<Record>,
    /// The newest revision that is legible.
    pub revision: Revision,
    /// The newest revision before the history.
    pub oldest: Revision,
    /// The newest lost write of each key whose name is legible, in the order of the revisions.
    pub lost: Vec<LostState>,
    /// Lost states whose keys are unknown.
    pub unnamed: UnnamedLoss,
    /// A revision that no client has seen, whatever was lost.
    pub unseen: Revision,
    /// Bytes of all files.
    pub bytes: u64,
}

/// A file that a start reads, or the folder of a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectedFile {
    /// The path.
    pub path: PathBuf,
    /// Its bytes; 0 if it is missing.
    pub bytes: u64,
    /// The damage; `None` if it is whole.
    pub damage: Option<String>,
}

/// A write that cannot be read, although it was durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostState {
    /// The key.
    pub key: Arc<str>,
    /// The lost revision.
    pub revision: Revision,
    /// The revision of the newest legible state; `None` if there is none.
    pub legible: Option<Revision>,
}

/// Lost states whose keys are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnnamedLoss {
    /// Known number of states in damaged generations.
    pub states: u64,
    /// True if more states or writes may be lost, of which not even the number is known.
    pub is_open: bool,
}

impl Inspection {
    /// Reads everything in the folder `path`, which no process may use. `progress` receives what is read and the
    /// approximate bytes in all; after an error the work ends with it.
    ///
    /// # Errors
    ///
    /// There is no store in the folder, another process uses it, it is of a newer version, or the operating system refuses.
    pub fn of<E: From<LogError>>(
        path: &Path,
        mut progress: impl FnMut(Amount, u64) -> Result<(), E>,
    ) -> Result<Self, E> {
        if !["format", "journal", "state"]
            .iter()
            .any(|name| path.join(name).exists())
        {
            return Err(LogError::Unreadable(format!("there is no store in {}", path.display())).into());
        }
        let _lock = crate::folder::lock(path)?;
        let mut inspection = Self::default();
        let format = inspection.read_format(path)?;
        let state = StateInspection::read(&path.join("state"))?;
        let (mut newest, mut amount) = (Newest::default(), Amount::default());
        let total = size_of(path);
        inspection.bytes = total;
        if let Some((path, damage)) = &state.damage {
            inspection.note(path.clone(), Some(damage.clone()));
            inspection.unnamed.is_open = true;
        }
        let space = Space::measured_by(path, Arc::new(FileSystem))?;
        for found in &state.generations {
            let read = Generation::read(found, &space)?;
            inspection.note(found.path.clone(), read.damage.clone());
            inspection.count_loss(found, &read);
            for record in read.records {
                if state.hash.is_none_or(|hash| found.has(hash.of(&record.key))) {
                    amount.add(&record);
                    newest.add(record);
                }
            }
            progress(amount, total)?;
        }
        inspection.oldest = state.newest;
        let folder = JournalFolder {
            root: path,
            format,
            settled: state.settled,
        };
        let mut ended = Ok(());
        let journal = folder.inspect(|record| {
            if ended.is_ok() {
                amount.add(&record);
                ended = progress(amount, total);
                newest.add(record);
            }
        })?;
        ended?;
        inspection.note_journal(&journal.files, &journal.damages);
        inspection.unnamed.is_open |= !journal.damages.is_empty() && journal.broken.is_empty();
        inspection.finish(
            newest,
            &journal.broken,
            journal.durable.max(state.newest),
            journal.unseen,
        );
        Ok(inspection)
    }

    /// True if nothing is damaged.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.files.iter().all(|file| file.damage.is_none())
    }

    fn read_format(&mut self, path: &Path) -> Result<Format, LogError> {
        let file = path.join(format::NAME);
        match format::read(path) {
            Ok(Some(format)) => {
                self.note(file, None);
                Ok(format)
            }
            Ok(None) => {
                self.note(file, Some("it is missing".to_owned()));
                Ok(Format::Three)
            }
            Err(error) if is_of_another_version(&error) => Err(error),
            Err(error @ LogError::Unreadable(_)) => {
                self.note(file, Some(reason_of(&error)));
                Ok(Format::Three)
            }
            Err(error) => Err(error),
        }
    }

    fn note(&mut self, path: PathBuf, damage: Option<String>) {
        let bytes = size_of(&path);
        self.files.push(InspectedFile { path, bytes, damage });
    }

    fn note_journal(&mut self, files: &[(PathBuf, u64)], damages: &[(PathBuf, String)]) {
        let damage_of = |path: &Path| {
            let mut of_file = damages.iter().filter(|(damaged, _)| damaged == path);
            of_file.next().map(|(_, damage)| damage.clone())
        };
        for (path, bytes) in files {
            self.files.push(InspectedFile {
                path: path.clone(),
                bytes: *bytes,
                damage: damage_of(path),
            });
        }
        for (path, damage) in damages {
            if files.iter().all(|(known, _)| known != path) {
                self.note(path.clone(), Some(damage.clone()));
            }
        }
    }

    /// Adds the states of a generation that were not read.
    fn count_loss(&mut self, found: &FoundGeneration, read: &Generation) {
        if read.damage.is_none() {
            return;
        }
        match &found.generation {
            // A generation that slots share may have records that do not count.
            Ok(generation) => self.unnamed.states += generation.keys().saturating_sub(read.records.len() as u64),
            Err(_) => self.unnamed.is_open = true,
        }
    }

    fn finish(&mut self, newest: Newest, broken: &[(Revision, Arc<str>)], durable: Revision, unseen: Revision) {
        let mut lost: HashMap<Arc<str>, LostState> = HashMap::new();
        for (revision, key) in broken {
            let known = newest.states.get(key);
            if known.is_some_and(|known| known.revision >= *revision) {
                continue;
            }
            let legible = known.filter(|known| known.change != Change::Delete);
            let state = LostState {
                key: Arc::clone(key),
                revision: *revision,
                legible: legible.map(|known| known.revision),
            };
            let entry = lost.entry(Arc::clone(key)).or_insert_with(|| state.clone());
            if entry.revision < *revision {
                *entry = state;
            }
        }
        self.lost = lost.into_values().collect();
        self.lost.sort_by_key(|state| state.revision);
        let revisions = newest.states.values().map(|record| record.revision);
        self.revision = revisions.max().unwrap_or_default().max(self.oldest);
        self.unseen = unseen.max(Revision(durable.0.saturating_add(1)));
        let states = newest.states.into_values();
        self.states = states.filter(|record| record.change != Change::Delete).collect();
        self.states.sort_by_key(|record| record.revision);
    }
}

/// A revision that the store in the folder `path` has assigned; zero if there is no store, or none that is legible. A running or
/// lost process may have assigned later ones, of the last half minute. Reads one small file.
#[must_use]
pub fn known_revision(path: &Path) -> Revision {
    Mark::last_in(path)
}

/// The newest write of each key.
#[derive(Default)]
struct Newest {
    states: HashMap<Arc<str>, Record>,
}

impl Newest {
    fn add(&mut self, mut record: Record) {
        let known = self.states.get(&record.key);
        if known.is_none_or(|known| known.revision < record.revision) {
            // Without the memory of a whole file.
            record.bytes = Bytes::copy_from_slice(&record.bytes);
            self.states.insert(Arc::clone(&record.key), record);
        }
    }
}

/// The records of a generation, as far as they can be read.
struct Generation {
    records: Vec<Record>,
    damage: Option<String>,
}

impl Generation {
    /// Reads a generation in a thread that sled may hang.
    fn read(found: &FoundGeneration, space: &Space) -> Result<Self, LogError> {
        let damage = match &found.generation {
            Err(damage) => damage.clone(),
            Ok(generation) => {
                let (generation, space) = (generation.clone(), space.clone());
                let read = collect(move |pulse, visit| generation.read(&space, pulse, visit))?;
                match read.result {
                    Ok(()) => {
                        let records = read.records;
                        return Ok(Self { records, damage: None });
                    }
                    Err(error @ LogError::Unreadable(_)) => reason_of(&error),
                    Err(error) => return Err(error),
                }
            }
        };
        if !found.path.is_dir() {
            let damage = Some(damage);
            return Ok(Self {
                records: Vec::new(),
                damage,
            });
        }
        let (path, space) = (found.path.clone(), space.clone());
        let salvaged = collect(move |pulse, visit| generation::salvage(&path, &space, pulse, visit))?;
        Ok(Self {
            records: salvaged.records.into_iter().filter(is_plausible).collect(),
            damage: Some(damage),
        })
    }
}

/// True if the object has the digits of its revision where the record says. Only such records of a damaged generation count.
/// An encrypted value has no digits. Its prefix alone counts: most ciphers authenticate it when it is read, AES-CBC does not.
fn is_plausible(record: &Record) -> bool {
    if planesmith_store::is_encrypted(&record.bytes) {
        return true;
    }
    let digits = record.revision.to_string();
    let found = record
        .gap
        .and_then(|gap| record.bytes.get(gap as usize..)?.get(..digits.len()));
    found == Some(digits.as_bytes())
}

/// Records, and the reason for which there are no more.
struct Collected {
    records: Vec<Record>,
    result: Result<(), LogError>,
}

type Visit<'a> = &'a mut dyn FnMut(Record) -> Result<(), LogError>;

/// Collects what `work` passes on, in a thread of its own: sled may fail, panic or hang after some records.
fn collect(
    work: impl FnOnce(&worker::Pulse, Visit<'_>) -> Result<(), LogError> + Send + 'static,
) -> Result<Collected, LogError> {
    let records = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&records);
    let mut worker = Worker::start(move |pulse| {
        work(pulse, &mut |record| {
            shared.lock().unwrap_or_else(PoisonError::into_inner).push(record);
            Ok(())
        })
    })?;
    let result = loop {
        match worker.wait(STEP) {
            Outcome::Running => {}
            Outcome::Done(result) => break result,
            Outcome::Stuck => break Err(worker::stuck()),
        }
    };
    let records = std::mem::take(&mut *records.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Collected { records, result })
}

/// Bytes of a file, or of everything in a folder; unreadable entries count as nothing.
fn size_of(path: &Path) -> u64 {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return 0;
    };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size_of(&entry.path())).sum()
}
