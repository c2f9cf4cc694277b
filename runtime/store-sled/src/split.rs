//! Reads a generation that many slots share once, and sorts its records into a file for each slot.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use planesmith_store::log::{LogError, Record};

use crate::changes::Changes;
use crate::errors::{damaged, failed};
use crate::file_system::create_file;
use crate::frame;
use crate::generation::Scratch;
use crate::space::{MARGIN, Space};
use crate::state::{GenerationSet, Part, Slot};
use crate::worker::Pulse;

/// Minimum number of slots for sorting. Fewer slots read the generation themselves.
const MIN_SLOTS: usize = 3;

/// Bytes of one slot's records that wait to be written.
const BUFFER: usize = 32 << 10;

/// Bytes of the files that are written between two checks of the free space.
const SPACE_CHECK_INTERVAL: u64 = 256 << 10;

/// The parts of a generation's records that are to be sorted.
#[derive(Clone, Debug)]
pub(crate) struct Sorting {
    generation_set: Arc<GenerationSet>,
    slots: Vec<Slot>,
    /// Approximate bytes of their records.
    bytes: u64,
}

impl Sorting {
    /// Returns the sorting for the next of `parts`, which are in the order of their use, so that they need not each
    /// read their generation: for as many as there is `space` for. `None` if there are too few.
    pub(crate) fn of<'a>(mut parts: impl Iterator<Item = &'a Part>, space: u64) -> Option<Self> {
        let first = parts.next()?;
        let generation_set = first.generation_set.as_ref()?;
        let (mut slots, mut bytes) = (vec![first.slot], first.bytes);
        let shares = |part: &&Part| {
            part.generation_set
                .as_ref()
                .is_some_and(|other| Arc::ptr_eq(generation_set, other))
        };
        for part in parts.filter(shares) {
            if generation_set.size_of_copy() + bytes + part.bytes + MARGIN > space {
                break;
            }
            slots.push(part.slot);
            bytes += part.bytes;
        }
        let generation_set = Arc::clone(generation_set);
        (slots.len() >= MIN_SLOTS).then_some(Self {
            generation_set,
            slots,
            bytes,
        })
    }

    /// Reads the generation, and writes its newest records to files in `folder`.
    pub(crate) fn run(
        mut self,
        folder: &Path,
        changes: &Changes,
        space: &Space,
        pulse: &Pulse,
    ) -> Result<Sorted, LogError> {
        let reservation = space.claim_until_dropped(self.generation_set.size_of_copy() + self.bytes + MARGIN)?;
        let scratch = Scratch::for_sorting(folder)?;
        self.slots.sort_unstable_by_key(|slot| *slot.hashes().start());
        let mut files = Vec::new();
        for number in 0..self.slots.len() {
            files.push(File::create(scratch.path().join(number.to_string()))?);
        }
        let (mut written, mut checked) = (0, 0);
        self.generation_set.read(space, pulse, |record| {
            if changes.supersede(&record.key, record.revision) {
                return Ok(());
            }
            let hash = changes.hash().of(&record.key);
            let after = self.slots.partition_point(|slot| *slot.hashes().start() <= hash);
            let Some(number) = after.checked_sub(1).filter(|number| self.slots[*number].holds(hash)) else {
                return Ok(());
            };
            written += files[number].push(&record)?;
            if written >= checked + SPACE_CHECK_INTERVAL {
                checked = written;
                space.claim(MARGIN)?;
            }
            Ok(())
        })?;
        files.iter_mut().try_for_each(File::flush)?;
        drop(reservation);
        let files = self.slots.iter().copied().zip(files).collect();
        Ok(Sorted {
            generation_set: self.generation_set,
            files: Mutex::new(files),
            _scratch: scratch,
        })
    }
}

/// The records of some slots of a generation, in a file for each slot.
#[derive(Debug)]
pub(crate) struct Sorted {
    generation_set: Arc<GenerationSet>,
    files: Mutex<HashMap<Slot, File>>,
    /// Last, so that the folder is empty when it is dropped.
    _scratch: Scratch,
}

impl Sorted {
    /// True if the records of `part` are sorted here.
    pub(crate) fn has(&self, part: &Part) -> bool {
        let is_own = part
            .generation_set
            .as_ref()
            .is_some_and(|generation_set| Arc::ptr_eq(generation_set, &self.generation_set));
        is_own && self.files().contains_key(&part.slot)
    }

    /// Passes on the records of `slot`, once: their file is removed. False if they are not here.
    pub(crate) fn take(
        &self,
        slot: Slot,
        mut visit: impl FnMut(&Record) -> Result<(), LogError>,
    ) -> Result<bool, LogError> {
        let Some(file) = self.files().remove(&slot) else {
            return Ok(false);
        };
        let path = &file.path;
        let bytes = Bytes::from(std::fs::read(path).map_err(failed("read", path))?);
        std::fs::remove_file(path).map_err(failed("remove", path))?;
        if file.checksum.finalize() != crc32fast::hash(&bytes) {
            return Err(damaged(path, "it changed since it was written"));
        }
        let mut start = 0;
        while let Some(length) = frame::record_length(&bytes[start..]) {
            let end = bytes.len().min(start + length);
            let record = frame::decode_record_alone(&bytes.slice(start..end));
            visit(&record.ok_or_else(|| damaged(path, "a record cannot be read"))?)?;
            start = end;
        }
        Ok(true)
    }

    fn files(&self) -> std::sync::MutexGuard<'_, HashMap<Slot, File>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The records of one slot.
#[derive(Debug)]
struct File {
    path: PathBuf,
    rest: Vec<u8>,
    checksum: crc32fast::Hasher,
}

impl File {
    fn create(path: PathBuf) -> Result<Self, LogError> {
        create_file(&path)?;
        Ok(Self {
            path,
            rest: Vec::new(),
            checksum: crc32fast::Hasher::new(),
        })
    }

    /// Adds a record. Returns its bytes.
    fn push(&mut self, record: &Record) -> Result<u64, LogError> {
        let before = self.rest.len();
        frame::encode_record(record, &mut self.rest);
        let added = (self.rest.len() - before) as u64;
        if self.rest.len() >= BUFFER {
            self.flush()?;
        }
        Ok(added)
    }

    /// Writes the waiting records. The file is not kept open: there may be more slots than descriptors.
    fn flush(&mut self) -> Result<(), LogError> {
        self.checksum.update(&self.rest);
        let opened = OpenOptions::new().append(true).open(&self.path);
        let written = opened.and_then(|mut file| file.write_all(&self.rest));
        written.map_err(failed("write", &self.path))?;
        self.rest = Vec::new();
        Ok(())
    }
}
