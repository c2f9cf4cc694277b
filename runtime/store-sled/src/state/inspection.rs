//! All generations of a state, whatever is damaged.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::LogError;

use super::list::{List, ListedGeneration, ListedGenerationSet, NAME};
use super::slot::KeyHash;
use super::{is_generation, name_of};
use crate::errors::{is_of_another_version, reason_of};
use crate::file_system::entries;
use crate::generation::Generation;

/// The folder of a state, as it is on the disk.
#[derive(Debug, Default)]
pub(crate) struct StateInspection {
    /// Journal files up to this revision are not needed; zero if that is not known.
    pub(crate) settled: Revision,
    /// The newest write that any slot includes.
    pub(crate) newest: Revision,
    /// The hash that places keys in slots; `None` if all generations count for all keys.
    pub(crate) hash: Option<KeyHash>,
    pub(crate) generations: Vec<FoundGeneration>,
    /// The list, and what is wrong with it.
    pub(crate) damage: Option<(PathBuf, String)>,
}

/// A generation that counts.
#[derive(Debug)]
pub(crate) struct FoundGeneration {
    pub(crate) path: PathBuf,
    /// The generation, or what is wrong with its manifest.
    pub(crate) generation: Result<Generation, String>,
    /// The hashes of the keys whose records count.
    pub(crate) hashes: Vec<RangeInclusive<u64>>,
}

impl FoundGeneration {
    /// Looks for the generation in `path`, whose manifest has the checksum `listed` if that is known.
    fn find(path: PathBuf, listed: Option<u32>, hashes: Vec<RangeInclusive<u64>>) -> Result<Self, LogError> {
        let generation = match Generation::find(path.clone()) {
            Ok(found) if listed.is_some_and(|listed| found.checksum() != listed) => {
                Err("its file manifest is not the one that was listed".to_owned())
            }
            Ok(found) => Ok(found),
            Err(error) if is_of_another_version(&error) => return Err(error),
            Err(error @ LogError::Unreadable(_)) => Err(reason_of(&error)),
            Err(error) => return Err(error),
        };
        Ok(Self {
            path,
            generation,
            hashes,
        })
    }

    /// True if the record of a key with `hash` counts.
    pub(crate) fn has(&self, hash: u64) -> bool {
        self.hashes.iter().any(|hashes| hashes.contains(&hash))
    }
}

impl StateInspection {
    /// Reads the list and the manifests in `folder`, and changes nothing.
    ///
    /// # Errors
    ///
    /// The operating system refuses, or the state is of a newer version.
    pub(crate) fn read(folder: &Path) -> Result<Self, LogError> {
        if !folder.is_dir() {
            let damage = Some((folder.to_owned(), "it is missing".to_owned()));
            return Ok(Self {
                damage,
                ..Self::default()
            });
        }
        match List::read(folder) {
            Ok(Some(list)) => Self::listed(folder, &list),
            Ok(None) => Self::unlisted(folder),
            Err(error) if is_of_another_version(&error) => Err(error),
            Err(error @ LogError::Unreadable(_)) => {
                let damage = Some((folder.join(NAME), reason_of(&error)));
                let generations = Self::all(folder)?;
                Ok(Self {
                    generations,
                    damage,
                    ..Self::default()
                })
            }
            Err(error) => Err(error),
        }
    }

    fn listed(folder: &Path, list: &List) -> Result<Self, LogError> {
        let mut used: Vec<(&ListedGeneration, Vec<RangeInclusive<u64>>)> = Vec::new();
        for part in &list.parts {
            let generations: Vec<&ListedGeneration> = match &part.generation_set {
                ListedGenerationSet::Nothing => Vec::new(),
                ListedGenerationSet::Generation(one) => vec![one],
                ListedGenerationSet::Unsorted => list.unsorted.iter().collect(),
            };
            for generation in generations {
                match used.iter_mut().find(|(known, _)| *known == generation) {
                    Some((_, hashes)) => hashes.push(part.slot.hashes()),
                    None => used.push((generation, vec![part.slot.hashes()])),
                }
            }
        }
        let found = used
            .into_iter()
            .map(|(listed, hashes)| FoundGeneration::find(folder.join(&listed.name), Some(listed.checksum), hashes));
        let newest = list.parts.iter().map(|part| part.through).max();
        Ok(Self {
            settled: list.settled,
            newest: newest.unwrap_or_default().max(list.settled),
            hash: Some(list.hash),
            generations: found.collect::<Result<_, _>>()?,
            damage: None,
        })
    }

    /// Without a list: a store that has not settled anything, one of an earlier format, or one that lost its list.
    fn unlisted(folder: &Path) -> Result<Self, LogError> {
        let mut generations = Self::all(folder)?;
        if generations.iter().any(|found| is_generation(name_of(&found.path))) {
            let damage = Some((folder.join(NAME), "it is missing".to_owned()));
            return Ok(Self {
                generations,
                damage,
                ..Self::default()
            });
        }
        let through = |found: &FoundGeneration| name_of(&found.path).parse::<u64>().unwrap_or(0);
        generations.sort_by_key(through);
        let newest = generations.pop();
        let settled = Revision(newest.as_ref().map_or(0, through));
        Ok(Self {
            settled,
            newest: settled,
            generations: newest.into_iter().collect(),
            ..Self::default()
        })
    }

    /// Every generation in the folder.
    fn all(folder: &Path) -> Result<Vec<FoundGeneration>, LogError> {
        let mut paths = entries(folder)?;
        paths.retain(|path| is_generation(name_of(path)) || name_of(path).parse::<u64>().is_ok());
        paths.sort_unstable();
        let all = paths
            .into_iter()
            .map(|path| FoundGeneration::find(path, None, vec![0..=u64::MAX]));
        all.collect()
    }
}
