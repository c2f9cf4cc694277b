//! Rewrites a slot of the state with its changes from the journal, on a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;

use planesmith_store::log::{LogError, Record};

use crate::changes::Changes;
use crate::disk::Disk;
use crate::generation::{self, Scratch, UnpublishedGeneration};
use crate::space::{MARGIN, Space};
use crate::split::Sorted;
use crate::state::Job;
use crate::worker::Pulse;

/// Bytes of records that are written between two checks of the free space.
const SPACE_CHECK_INTERVAL: u64 = 256 << 10;

/// The rewriting of one slot to its next generation.
#[derive(Debug)]
pub(crate) struct Merge {
    pub(crate) job: Job,
    pub(crate) changes: Arc<Changes>,
    /// Records that were sorted before.
    pub(crate) sorted: Option<Arc<Sorted>>,
    /// The folder of generations.
    pub(crate) folder: PathBuf,
    pub(crate) disk: Disk,
    pub(crate) space: Space,
}

impl Merge {
    /// Writes the generation; `None` when it would be empty. On an error nothing changed.
    pub(crate) fn run(&self, pulse: &Pulse) -> Result<Option<UnpublishedGeneration>, LogError> {
        let _reservation = self.space.claim_until_dropped(needed(&self.job, &self.changes))?;
        let scratch = Scratch::for_generation(&self.folder)?;
        let mut building = scratch.build()?;
        let mut checked = 0;
        let mut push = |record: &Record| {
            pulse.beat()?;
            building.push(record)?;
            if building.bytes() >= checked + SPACE_CHECK_INTERVAL {
                checked = building.bytes();
                self.space.claim(MARGIN)?;
            }
            Ok(())
        };
        for source in &self.job.sources {
            let Some(generation_set) = &source.generation_set else {
                continue;
            };
            if let Some(sorted) = self.sorted.as_ref().filter(|sorted| sorted.has(source))
                && sorted.take(source.slot, &mut push)?
            {
                continue;
            }
            generation_set.read(&self.space, pulse, |record| {
                let is_newest = !self.changes.supersede(&record.key, record.revision);
                // The generation may be shared with other slots.
                if is_newest && source.slot.holds(self.changes.hash().of(&record.key)) {
                    push(&record)?;
                }
                Ok(())
            })?;
        }
        for source in &self.job.sources {
            self.changes.puts(source.slot, source.through, &mut push)?;
        }
        if building.bytes() == 0 {
            return Ok(None);
        }
        let built = building.finish()?;
        scratch.finish(&built, &self.disk, &self.space, pulse).map(Some)
    }
}

/// Maximum size on disk of the generation that `job` writes.
pub(crate) fn size_of(job: &Job, changes: &Changes) -> u64 {
    let parts = job.sources.iter();
    let records = parts.map(|part| part.bytes + changes.bytes_in(part).unwrap_or(0));
    generation::size_for(records.sum())
}

/// Bytes needed to rewrite a slot of `bytes` bytes of records: the new generation, and a copy of it or of the old one.
pub(crate) fn needed_for_slot(bytes: u64) -> u64 {
    2 * generation::size_for(bytes) + generation::COPY_OVERHEAD + MARGIN
}

/// Bytes that `job` needs: the new generation, and a copy of each one that sled reads, the new one last.
pub(crate) fn needed(job: &Job, changes: &Changes) -> u64 {
    let new = size_of(job, changes);
    let generation_sets = job.sources.iter().filter_map(|part| part.generation_set.as_ref());
    let copy = generation_sets
        .map(|generation_set| generation_set.size_of_copy())
        .max()
        .unwrap_or(0);
    new + copy.max(new) + MARGIN
}
