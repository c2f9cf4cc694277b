//! Journal files become part of the state, on a thread of their own.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use planesmith_store::Revision;
use planesmith_store::log::{Change, LogError, Record};

use crate::generation::{Generations, Made};
use crate::journal::{self, Sealed};
use crate::space::Space;
use crate::worker::Pulse;

/// Bytes that sled writes per byte that it keeps, at most: leaves are written again as they grow.
const OVERHEAD: u64 = 4;

/// Bytes that have to stay free while sled writes: a failed write would leave it waiting for ever.
const MARGIN: u64 = 8 << 20;

/// Bytes of records that are written before the free space is looked at again.
const LOOK_EVERY: usize = 1 << 20;

/// A new generation in the making: the old one, and some journal files on top.
///
/// The files are read twice: first for the last write of every key, then for the objects of those
/// writes. So it takes the memory of their keys and of one file.
#[derive(Debug)]
pub(crate) struct Merge {
    /// The journal's folder.
    pub(crate) journal: PathBuf,
    /// Oldest first, at least one.
    pub(crate) files: Vec<Sealed>,
    pub(crate) generations: Generations,
    pub(crate) space: Space,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    revision: Revision,
    /// Bytes of the key's new state; 0 when it is gone.
    bytes: u64,
}

impl Merge {
    /// Makes the generation. On an error nothing changed.
    pub(crate) fn run(&self, pulse: &Pulse) -> Result<Made, LogError> {
        let last = self.last_writes(pulse)?;
        let added: u64 = last.values().map(|last| last.bytes).sum();
        self.space.check_for_settling(self.needed(added))?;
        let through = self.files.last().map_or(Revision::ZERO, |file| file.last);
        let scratch = self.generations.make(through)?;
        let mut building = scratch.build()?;
        let mut pushed = 0;
        let mut push = |record: &Record| {
            pulse.beat()?;
            pushed += record.bytes.len();
            if pushed >= LOOK_EVERY {
                pushed = 0;
                self.space.check_for_settling(MARGIN)?;
            }
            building.push(record)
        };
        if let Some(old) = self.generations.newest() {
            old.read(pulse, |record| match last.contains_key(&record.key) {
                true => Ok(()),
                false => push(&record),
            })?;
        }
        for file in &self.files {
            for record in journal::read_sealed(&self.journal, *file)? {
                let last = last.get(&record.key);
                let counts = last.is_some_and(|last| last.revision == record.revision);
                if counts && record.change != Change::Delete {
                    push(&record)?;
                }
            }
        }
        let built = building.finish(through)?;
        drop(last);
        scratch.finish(&built, self.generations.disk(), pulse)
    }

    /// Bytes that the merge takes: the new generation, and a copy of the old or the new one.
    fn needed(&self, added: u64) -> u64 {
        let new = (self.generations.bytes() + added) * OVERHEAD;
        new + new.max(self.generations.size()) + MARGIN
    }

    fn last_writes(&self, pulse: &Pulse) -> Result<HashMap<Arc<str>, Last>, LogError> {
        let mut last = HashMap::new();
        for file in &self.files {
            pulse.beat()?;
            for record in journal::read_sealed(&self.journal, *file)? {
                let bytes = match record.change {
                    Change::Put { .. } => (record.bytes.len() + record.key.len() + 64) as u64,
                    Change::Delete => 0,
                };
                let revision = record.revision;
                last.insert(record.key, Last { revision, bytes });
            }
        }
        Ok(last)
    }
}
