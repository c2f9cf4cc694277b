//! The last write of each key in some journal files.

use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Change, LogError, Record};

use crate::errors::{damaged, failed};
use crate::frame;
use crate::journal::{self, Sealed};
use crate::state::{KeyHash, Part, Slot};
use crate::worker::Pulse;

/// The changes of consecutive journal files.
///
/// Keys are in memory, objects only as positions in the files.
#[derive(Debug)]
pub(crate) struct Changes {
    journal: PathBuf,
    files: Vec<Sealed>,
    last: HashMap<Arc<str>, Last>,
    hash: KeyHash,
    /// The keys in the order of their hashes.
    by_hash: Vec<(u64, Arc<str>)>,
}

/// The last write of a key.
#[derive(Clone, Copy, Debug)]
struct Last {
    revision: Revision,
    is_put: bool,
    /// The file of the write, its position there, and the CRC-32 of its bytes.
    file: usize,
    offset: u64,
    length: usize,
    checksum: u32,
}

impl Changes {
    /// Reads `files` of the folder `journal`, oldest first. Writes up to `settled` are left out. `hash` places keys in
    /// slots.
    pub(crate) fn read(
        journal: &Path,
        files: Vec<Sealed>,
        settled: Revision,
        hash: KeyHash,
        pulse: &Pulse,
    ) -> Result<Self, LogError> {
        let mut last = HashMap::new();
        let mut bytes = Vec::new();
        for (number, file) in files.iter().enumerate() {
            pulse.beat()?;
            for located in journal::read_sealed(journal, *file)? {
                let record = located.record;
                if record.revision <= settled {
                    continue;
                }
                bytes.clear();
                frame::encode_record(&record, &mut bytes);
                let found = Last {
                    revision: record.revision,
                    is_put: record.change != Change::Delete,
                    file: number,
                    offset: located.offset,
                    length: located.length,
                    checksum: crc32fast::hash(&bytes),
                };
                last.insert(record.key, found);
            }
        }
        let mut by_hash: Vec<_> = last.keys().map(|key| (hash.of(key), Arc::clone(key))).collect();
        by_hash.sort_unstable();
        Ok(Self {
            journal: journal.to_owned(),
            files,
            last,
            hash,
            by_hash,
        })
    }

    /// The hash that places keys in slots.
    pub(crate) fn hash(&self) -> KeyHash {
        self.hash
    }

    /// The last write in the files.
    pub(crate) fn through(&self) -> Revision {
        self.files.last().map_or(Revision::ZERO, |file| file.last)
    }

    /// Returns the number of files for a smaller round: half as many, or as many as end at `newest` or later, the newest
    /// write that any slot of the state includes; `None` if that is not smaller. A slot that a stopped round published
    /// includes all writes of that round, so a round that ended before them would record an older revision for it.
    pub(crate) fn fewer_files(&self, newest: Revision) -> Option<usize> {
        let least = 1 + self.files.iter().position(|file| file.last >= newest)?;
        let fewer = least.max(self.files.len() / 2);
        (fewer < self.files.len()).then_some(fewer)
    }

    /// True if the files have a newer state of `key` than `revision`, or its deletion.
    pub(crate) fn supersede(&self, key: &str, revision: Revision) -> bool {
        self.last.get(key).is_some_and(|last| last.revision > revision)
    }

    /// Bytes of the changed objects in `part`; `None` when nothing changed there.
    pub(crate) fn bytes_in(&self, part: &Part) -> Option<u64> {
        let mut bytes = None;
        for (_, last) in self.lasts(part.slot).filter(|(_, last)| last.revision > part.through) {
            let added = if last.is_put { last.length as u64 } else { 0 };
            bytes = Some(bytes.unwrap_or(0) + added);
        }
        bytes
    }

    fn lasts(&self, slot: Slot) -> impl Iterator<Item = (&Arc<str>, &Last)> {
        let hashes = slot.hashes();
        let start = self.by_hash.partition_point(|(hash, _)| hash < hashes.start());
        let keys = self.by_hash[start..]
            .iter()
            .take_while(move |(hash, _)| hashes.contains(hash));
        keys.filter_map(|(_, key)| Some((key, self.last.get(key)?)))
    }

    /// Passes on the states of `slot` that are newer than `through`, in the order of the files.
    pub(crate) fn puts(
        &self,
        slot: Slot,
        through: Revision,
        mut visit: impl FnMut(&Record) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let lasts = self
            .lasts(slot)
            .filter(|(_, last)| last.is_put && last.revision > through);
        let mut lasts: Vec<_> = lasts.collect();
        lasts.sort_unstable_by_key(|(_, last)| (last.file, last.offset));
        for of_one_file in lasts.chunk_by(|(_, one), (_, next)| one.file == next.file) {
            let Some((_, first)) = of_one_file.first() else {
                continue;
            };
            let (file, path) = journal::open_sealed(&self.journal, self.files[first.file])?;
            for (key, last) in of_one_file {
                let mut bytes = vec![0; last.length];
                file.read_exact_at(&mut bytes, last.offset)
                    .map_err(failed("read", &path))?;
                let is_same = crc32fast::hash(&bytes) == last.checksum;
                let record = frame::decode_record_alone(&Bytes::from(bytes));
                let record = record.filter(|record| is_same && record.key == **key && record.revision == last.revision);
                visit(&record.ok_or_else(|| damaged(&path, "it changed since it was read"))?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_files(lasts: &[u64]) -> Changes {
        let files = (1..).zip(lasts).map(|(number, last)| Sealed {
            number,
            last: Revision(*last),
            bytes: 1,
        });
        Changes {
            journal: PathBuf::new(),
            files: files.collect(),
            last: HashMap::new(),
            hash: KeyHash::Checksum,
            by_hash: Vec::new(),
        }
    }

    #[test]
    fn a_smaller_round_has_half_as_many_files() {
        assert_eq!(of_files(&[10, 20, 30]).fewer_files(Revision::ZERO), Some(1));
        assert_eq!(of_files(&[10, 20, 30, 40]).fewer_files(Revision::ZERO), Some(2));
        assert_eq!(of_files(&[10]).fewer_files(Revision::ZERO), None);
        assert_eq!(of_files(&[]).fewer_files(Revision::ZERO), None);
    }

    #[test]
    fn no_smaller_round_ends_before_writes_that_a_stopped_round_published() {
        let changes = of_files(&[10, 20, 30, 40]);
        assert_eq!(changes.fewer_files(Revision(20)), Some(2));
        assert_eq!(changes.fewer_files(Revision(21)), Some(3));
        assert_eq!(changes.fewer_files(Revision(31)), None);
        assert_eq!(changes.fewer_files(Revision(41)), None);
    }
}
