//! The state of every key before the journal: slots of keys, each in a generation of its own.

mod generation_set;
mod inspection;
mod list;
mod slot;

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planesmith_store::Revision;
use planesmith_store::log::LogError;

pub(crate) use self::generation_set::GenerationSet;
pub(crate) use self::inspection::{FoundGeneration, StateInspection};
use self::list::{List, ListedGeneration, ListedGenerationSet, ListedSlot};
pub(crate) use self::slot::{KeyHash, Slot};
use crate::disk::Disk;
use crate::errors::damaged;
use crate::file_system::{entries, remove_tree};
use crate::generation::{Generation, Scratch, UnpublishedGeneration};

/// The current generations, in their folder.
#[derive(Debug)]
pub(crate) struct State {
    folder: PathBuf,
    disk: Disk,
    /// Journal files up to this revision are not needed.
    settled: Revision,
    hash: KeyHash,
    /// In the order of their hashes; together they cover all keys.
    parts: Vec<Part>,
    /// True if the folder has a list. Before the first merge it has none.
    is_listed: bool,
    /// The slots before the keyed hash was adopted, until a slot of the keyed hash is published.
    placed_by_checksum: Option<Vec<Part>>,
}

/// A slot and its content.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) slot: Slot,
    /// The last write that the content includes.
    pub(crate) through: Revision,
    /// Approximate bytes of the records.
    pub(crate) bytes: u64,
    /// The records, perhaps together with those of other slots; `None` if there are none.
    pub(crate) generation_set: Option<Arc<GenerationSet>>,
}

impl Part {
    /// True if the generations have records of other slots, too, or may have them.
    fn is_shared(&self) -> bool {
        let generation_set = self.generation_set.as_ref();
        generation_set.is_some_and(|generation_set| generation_set.is_unsorted() || generation_set.bytes() > self.bytes)
    }

    /// The halves of the part, which share the content; only itself if it cannot be halved.
    fn halves(&self) -> Vec<Self> {
        let Some(halves) = self.slot.halves() else {
            return vec![self.clone()];
        };
        let half = |slot| Self {
            slot,
            bytes: self.bytes / 2,
            ..self.clone()
        };
        halves.map(half).into()
    }

    fn listed(&self) -> ListedSlot {
        ListedSlot {
            slot: self.slot,
            through: self.through,
            bytes: self.bytes,
            generation_set: match self
                .generation_set
                .as_ref()
                .map(|generation_set| generation_set.generations())
            {
                None | Some([]) => ListedGenerationSet::Nothing,
                Some([generation]) => ListedGenerationSet::Generation(listed(generation)),
                Some(_) => ListedGenerationSet::Unsorted,
            },
        }
    }
}

/// The next content of a slot, to be merged from its current sources.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) slot: Slot,
    pub(crate) sources: Vec<Part>,
}

impl State {
    /// Reads the state in `folder`; removes incomplete and replaced generations.
    pub(crate) fn open(folder: &Path, disk: Disk) -> Result<Self, LogError> {
        let mut state = Self {
            folder: folder.to_owned(),
            disk,
            settled: Revision::ZERO,
            hash: KeyHash::random(),
            parts: Vec::new(),
            is_listed: false,
            placed_by_checksum: None,
        };
        match List::read(folder)? {
            Some(list) => state.take(list)?,
            None => state.take_first_format()?,
        }
        state.remove_unlisted(true)?;
        Ok(state)
    }

    fn take(&mut self, list: List) -> Result<(), LogError> {
        let unsorted = list.unsorted.iter().map(|generation| self.find(generation));
        let unsorted = GenerationSet::unsorted(unsorted.collect::<Result<_, _>>()?).map(Arc::new);
        let mut generation_sets: Vec<Arc<GenerationSet>> = Vec::new();
        for part in list.parts {
            let generation_set = match &part.generation_set {
                ListedGenerationSet::Nothing => None,
                ListedGenerationSet::Unsorted => unsorted.clone(),
                ListedGenerationSet::Generation(generation) => {
                    let is_same = |generation_set: &&Arc<GenerationSet>| {
                        generation_set
                            .generations()
                            .iter()
                            .any(|own| listed(own) == *generation)
                    };
                    let generation_set = match generation_sets.iter().find(is_same) {
                        Some(known) => Arc::clone(known),
                        None => Arc::new(GenerationSet::new(self.find(generation)?)),
                    };
                    generation_sets.push(Arc::clone(&generation_set));
                    Some(generation_set)
                }
            };
            self.parts.push(Part {
                slot: part.slot,
                through: part.through,
                bytes: part.bytes,
                generation_set,
            });
        }
        (self.settled, self.hash, self.is_listed) = (list.settled, list.hash, true);
        Ok(())
    }

    fn find(&self, listed: &ListedGeneration) -> Result<Generation, LogError> {
        let path = self.folder.join(&listed.name);
        let found = Generation::find(path.clone())?;
        if found.checksum() != listed.checksum {
            return Err(damaged(&path, "its file manifest is not the one that was listed"));
        }
        Ok(found)
    }

    /// Lets the following rounds place all keys in slots by a keyed hash, if they are placed by CRC-32 and every slot has
    /// the same writes. The generations remain until the last slot is rewritten.
    pub(crate) fn adopt_keyed_hash(&mut self) {
        let is_settled = self.parts.iter().all(|part| part.through == self.settled);
        if self.hash != KeyHash::Checksum || !is_settled || self.parts.iter().any(Part::is_shared) {
            return;
        }
        let generations = self
            .generation_sets()
            .flat_map(|generation_set| generation_set.generations())
            .cloned();
        let generation_set = GenerationSet::unsorted(generations.collect());
        let all = Part {
            slot: Slot::ALL,
            through: self.settled,
            bytes: self.bytes(),
            generation_set: generation_set.map(Arc::new),
        };
        self.placed_by_checksum = Some(std::mem::replace(&mut self.parts, vec![all]));
        self.hash = KeyHash::random();
    }

    /// Takes the adoption back if no slot of the keyed hash was published: until the next round the state counts with
    /// one copy again, and writes have the space of the other.
    pub(crate) fn abandon_keyed_hash(&mut self) {
        if let Some(parts) = self.placed_by_checksum.take() {
            (self.parts, self.hash) = (parts, KeyHash::Checksum);
        }
    }

    /// In the first format, the newest generation had all keys, and its name was its revision.
    fn take_first_format(&mut self) -> Result<(), LogError> {
        let mut newest = None;
        for path in entries(&self.folder)? {
            let name = name_of(&path);
            if is_generation(name) {
                return Err(damaged(&self.folder, &format!("its file {} is missing", list::NAME)));
            }
            newest = newest.max(name.parse::<u64>().ok().map(|through| (through, path)));
        }
        let generation_set = newest.map(|(through, path)| Generation::find_at(path, Revision(through)));
        let generation_set = generation_set.transpose()?;
        self.settled = generation_set.as_ref().map_or(Revision::ZERO, Generation::through);
        self.parts.push(Part {
            slot: Slot::ALL,
            through: self.settled,
            bytes: generation_set.as_ref().map_or(0, Generation::bytes),
            generation_set: generation_set.map(|generation_set| Arc::new(GenerationSet::new(generation_set))),
        });
        Ok(())
    }

    /// Removes generations that no slot uses; and, if no work is running, incomplete ones.
    fn remove_unlisted(&self, with_unfinished: bool) -> Result<(), LogError> {
        let generations = self
            .generation_sets()
            .flat_map(|generation_set| generation_set.generations());
        let needed: HashSet<String> = generations.map(Generation::name).collect();
        for path in entries(&self.folder)? {
            let name = name_of(&path);
            let is_old = is_generation(name) || name.parse::<u64>().is_ok();
            let is_unfinished = with_unfinished && Scratch::is_name(name);
            if (is_old && !needed.contains(name)) || is_unfinished {
                remove_tree(&path)?;
            }
        }
        Ok(())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Journal files up to this revision are not needed.
    pub(crate) fn settled(&self) -> Revision {
        self.settled
    }

    /// The newest write that any slot includes.
    pub(crate) fn newest(&self) -> Revision {
        let newest = self.parts.iter().map(|part| part.through).max();
        newest.unwrap_or_default().max(self.settled)
    }

    /// The slots, in the order of their hashes.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The hash that places keys in slots.
    pub(crate) fn hash(&self) -> KeyHash {
        self.hash
    }

    /// Places keys in slots by CRC-32, as lists of version 1 do.
    #[cfg(test)]
    pub(crate) fn use_checksums(&mut self) {
        self.hash = KeyHash::Checksum;
    }

    /// The slot of `key`.
    pub(crate) fn part_of(&self, key: &str) -> Option<&Part> {
        let hash = self.hash.of(key);
        let after = self.parts.partition_point(|part| *part.slot.hashes().start() <= hash);
        self.parts.get(after.checked_sub(1)?)
    }

    /// Every set of generations once.
    pub(crate) fn generation_sets(&self) -> impl Iterator<Item = &Arc<GenerationSet>> {
        let generation_sets = self.parts.iter().filter_map(|part| part.generation_set.as_ref());
        let mut seen = HashSet::new();
        generation_sets.filter(move |generation_set| seen.insert(Arc::as_ptr(generation_set)))
    }

    /// The hashes of the slots whose records are in `generation_set`, in ascending order.
    pub(crate) fn hashes_in(&self, generation_set: &Arc<GenerationSet>) -> impl Iterator<Item = RangeInclusive<u64>> {
        let is_own = |part: &&Part| {
            let own = part.generation_set.as_ref();
            own.is_some_and(|own| Arc::ptr_eq(own, generation_set))
        };
        self.parts.iter().filter(is_own).map(|part| part.slot.hashes())
    }

    /// Approximate bytes of all records.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Bytes of the records of the largest generation.
    pub(crate) fn largest(&self) -> u64 {
        let generations = self
            .generation_sets()
            .flat_map(|generation_set| generation_set.generations());
        generations.map(Generation::bytes).max().unwrap_or(0)
    }

    /// Bytes on disk.
    pub(crate) fn size(&self) -> u64 {
        self.generation_sets().map(|generation_set| generation_set.size()).sum()
    }

    /// Bytes on disk of generations that are removed when all their slots are rewritten.
    pub(crate) fn unsorted_size(&self) -> u64 {
        let unsorted = self
            .generation_sets()
            .filter(|generation_set| generation_set.is_unsorted());
        unsorted.map(|generation_set| generation_set.size()).sum()
    }

    /// Splits slots that become larger than `target`, and returns the jobs after which every slot includes the changes
    /// of `added`: bytes that the newest writes add to a slot, `None` for a slot without changes.
    ///
    /// Small neighbouring slots are joined; slots that share a generation get their own.
    pub(crate) fn plan(&mut self, target: u64, added: impl Fn(&Part) -> Option<u64>) -> Vec<Job> {
        let mut left: Vec<Part> = std::mem::take(&mut self.parts);
        left.reverse();
        while let Some(part) = left.pop() {
            let added = added(&part);
            let is_due = added.is_some() || part.is_shared();
            let halves = if is_due && part.bytes + added.unwrap_or(0) > target {
                part.halves()
            } else {
                Vec::new()
            };
            match halves.len() {
                2 => left.extend(halves.into_iter().rev()),
                _ => self.parts.push(part),
            }
        }
        let mut jobs: Vec<(Job, u64, bool)> = Vec::new();
        for part in &self.parts {
            let brought = added(part);
            let mut bytes = part.bytes + brought.unwrap_or(0);
            let mut is_due = brought.is_some() || self.shares_generation_set(part);
            let mut job = Job {
                slot: part.slot,
                sources: vec![part.clone()],
            };
            while let Some((before, its_bytes, _)) = jobs.last()
                && its_bytes + bytes <= target / 2
                && let Some(slot) = before.slot.joined(job.slot)
                && let Some((before, its_bytes, _)) = jobs.pop()
            {
                bytes += its_bytes;
                is_due = true;
                let sources = before.sources.into_iter().chain(job.sources);
                job = Job {
                    slot,
                    sources: sources.collect(),
                };
            }
            jobs.push((job, bytes, is_due));
        }
        jobs.into_iter()
            .filter(|(_, _, is_due)| *is_due)
            .map(|(job, _, _)| job)
            .collect()
    }

    /// True if other slots use the same generations.
    fn shares_generation_set(&self, part: &Part) -> bool {
        let Some(generation_set) = &part.generation_set else {
            return false;
        };
        let others = self.parts.iter().filter_map(|part| part.generation_set.as_ref());
        generation_set.is_unsorted() || others.filter(|other| Arc::ptr_eq(generation_set, other)).count() > 1
    }

    /// Writes the list, if there is none: from then on the folder has the newest format.
    pub(crate) fn ensure_list(&mut self, upgrade: impl FnOnce() -> Result<(), LogError>) -> Result<(), LogError> {
        if !self.is_listed {
            upgrade()?;
            self.write(&self.parts, self.settled)?;
            self.is_listed = true;
        }
        Ok(())
    }

    /// Replaces the sources of `job` with `generation`; `None` when no records are left. On an error the state is unchanged.
    pub(crate) fn publish(
        &mut self,
        job: &Job,
        generation: Option<UnpublishedGeneration>,
        through: Revision,
    ) -> Result<(), LogError> {
        let generation_set = generation
            .map(|generation| generation.publish(&self.folder, through, &self.disk))
            .transpose()?;
        let part = Part {
            slot: job.slot,
            through,
            bytes: generation_set.as_ref().map_or(0, Generation::bytes),
            generation_set: generation_set.map(|generation_set| Arc::new(GenerationSet::new(generation_set))),
        };
        let hashes = job.slot.hashes();
        let mut parts: Vec<Part> = Vec::with_capacity(self.parts.len());
        parts.extend(
            self.parts
                .iter()
                .filter(|part| !hashes.contains(part.slot.hashes().start()))
                .cloned(),
        );
        let place = parts.partition_point(|other| other.slot.hashes().start() < hashes.start());
        parts.insert(place, part);
        self.write(&parts, self.settled)?;
        self.parts = parts;
        self.placed_by_checksum = None;
        self.remove_unlisted(false)
    }

    /// Records that every slot includes all writes up to `through`.
    pub(crate) fn settle(&mut self, through: Revision) -> Result<(), LogError> {
        let mut parts = self.parts.clone();
        parts
            .iter_mut()
            .for_each(|part| part.through = part.through.max(through));
        self.write(&parts, through)?;
        (self.parts, self.settled, self.placed_by_checksum) = (parts, through, None);
        Ok(())
    }

    fn write(&self, parts: &[Part], settled: Revision) -> Result<(), LogError> {
        let generation_sets = parts.iter().filter_map(|part| part.generation_set.as_ref());
        let unsorted = generation_sets
            .into_iter()
            .find(|generation_set| generation_set.is_unsorted());
        let list = List {
            settled,
            hash: self.hash,
            unsorted: unsorted.map_or_else(Vec::new, |generation_set| {
                generation_set.generations().iter().map(listed).collect()
            }),
            parts: parts.iter().map(Part::listed).collect(),
        };
        list.write(&self.folder, &self.disk)
    }
}

fn listed(generation: &Generation) -> ListedGeneration {
    ListedGeneration {
        name: generation.name(),
        checksum: generation.checksum(),
    }
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// True for the names that [`UnpublishedGeneration::publish`] gives.
fn is_generation(name: &str) -> bool {
    name.split_once('-')
        .is_some_and(|(through, _)| through.parse::<u64>().is_ok())
}

#[cfg(test)]
mod tests {
    use planesmith_store::Revision;

    use super::{Part, Slot, State};
    use crate::disk::Disk;

    fn state() -> (tempfile::TempDir, State) {
        let folder = tempfile::tempdir().unwrap();
        let state = State::open(folder.path(), Disk::default()).unwrap();
        (folder, state)
    }

    fn finish(state: &mut State, added: u64) -> usize {
        let total = added;
        let share = |part: &Part| Some(total >> part.slot.bits).filter(|bytes| *bytes > 0);
        let jobs = state.plan(100, share);
        for job in &jobs {
            let mut part = Part {
                bytes: 0,
                ..job.sources[0].clone()
            };
            part.slot = job.slot;
            part.bytes = job
                .sources
                .iter()
                .map(|part| part.bytes + share(part).unwrap_or(0))
                .sum();
            state.parts.retain(|part| !job.slot.holds(*part.slot.hashes().start()));
            let place = state
                .parts
                .partition_point(|other| other.slot.hashes().start() < part.slot.hashes().start());
            state.parts.insert(place, part);
        }
        jobs.len()
    }

    #[test]
    fn slots_are_halved_as_they_grow_and_joined_as_they_shrink() {
        let (_folder, mut state) = state();
        assert_eq!(finish(&mut state, 80), 1);
        assert_eq!(state.parts().len(), 1);
        assert_eq!(finish(&mut state, 400), 8, "no slot is larger than the target");
        assert!(state.largest() <= 100 && state.bytes() == 480);
        assert_eq!(state.parts().last().unwrap().slot, Slot::new(3, 7).unwrap());
        assert_eq!(finish(&mut state, 0), 0, "nothing to do without changes");
        state.parts.iter_mut().for_each(|part| part.bytes = 5);
        assert_eq!(finish(&mut state, 0), 1);
        assert_eq!(state.parts()[0].slot, Slot::ALL);
        assert_eq!(state.bytes(), 40);
    }

    #[test]
    fn settled_changes_survive_a_restart_and_a_lost_list_is_damage() {
        let (folder, mut state) = state();
        state.ensure_list(|| Ok(())).unwrap();
        state.settle(Revision(7)).unwrap();
        let state = State::open(folder.path(), Disk::default()).unwrap();
        assert_eq!((state.settled(), state.newest()), (Revision(7), Revision(7)));
        std::fs::create_dir(folder.path().join("00000000000000000007-00-00000-01234567")).unwrap();
        std::fs::remove_file(folder.path().join("list")).unwrap();
        let error = State::open(folder.path(), Disk::default()).unwrap_err().to_string();
        assert!(error.contains("its file list is missing"), "{error}");
    }
}
