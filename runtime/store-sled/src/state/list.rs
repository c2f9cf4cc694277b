//! The file that lists the parts of the state.

use std::path::Path;

use planesmith_store::Revision;
use planesmith_store::log::LogError;

use super::slot::{KeyHash, Slot};
use crate::checksummed::{self, Checksummed, Content, hex};
use crate::disk::Disk;
use crate::errors::{damaged, failed, unknown_format};

pub(super) const NAME: &str = "list";
const NEW: &str = "list.new";
const FORMAT: Checksummed = Checksummed {
    format: "planesmith-state ",
    version: "3",
    earlier: &[FIRST, SORTED],
};
/// In this version keys are placed in slots by CRC-32.
const FIRST: &str = "1";
/// In this version each slot has its generation. It is written while that is so.
const SORTED: &str = "2";
/// In place of a secret: keys are placed in slots by CRC-32.
const NO_SECRET: &str = "-";
/// In place of a generation: there is none.
const NOTHING: &str = "-";
/// In place of a generation: records may be in any unsorted one.
const UNSORTED: &str = "*";

/// The content of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct List {
    /// Journal files up to this revision are not needed.
    pub(super) settled: Revision,
    /// The hash that places keys in slots.
    pub(super) hash: KeyHash,
    /// The generations of slots without their own.
    pub(super) unsorted: Vec<ListedGeneration>,
    /// In the order of their hashes; together they cover all keys.
    pub(super) parts: Vec<ListedSlot>,
}

/// A generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedGeneration {
    /// The name of its folder.
    pub(super) name: String,
    /// CRC-32 of its manifest.
    pub(super) checksum: u32,
}

/// The generations with the records of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListedGenerationSet {
    /// There are no records.
    Nothing,
    /// One generation, which several slots may share.
    Generation(ListedGeneration),
    /// Any of [`List::unsorted`].
    Unsorted,
}

/// A slot, and the generation with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedSlot {
    pub(super) slot: Slot,
    /// The last write that its content includes.
    pub(super) through: Revision,
    /// Approximate bytes of its records.
    pub(super) bytes: u64,
    pub(super) generation_set: ListedGenerationSet,
}

impl List {
    /// Writes the list into place; it is durable when this returns.
    pub(super) fn write(&self, folder: &Path, disk: &Disk) -> Result<(), LogError> {
        let new = folder.join(NEW);
        checksummed::write(&new, &self.encode(), disk)?;
        std::fs::rename(&new, folder.join(NAME)).map_err(failed("rename", &new))?;
        disk.sync_folder(folder)
    }

    /// Reads the list of `folder`; `None` when there is none.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, LogError> {
        let path = folder.join(NAME);
        let Some(text) = checksummed::read(&path)? else {
            return Ok(None);
        };
        if let Content::Unknown(version) = FORMAT.decode(&text) {
            return Err(unknown_format(&path, version, FORMAT.version));
        }
        let decoded = Self::decode(&text).filter(Self::is_whole);
        decoded
            .ok_or_else(|| damaged(folder, &format!("its file {NAME} is cut off, or changed")))
            .map(Some)
    }

    /// True if each hash belongs to exactly one slot.
    fn is_whole(&self) -> bool {
        let mut next = Some(0);
        for part in &self.parts {
            let hashes = part.slot.hashes();
            if next != Some(*hashes.start()) {
                return false;
            }
            next = hashes.end().checked_add(1);
        }
        next.is_none()
    }

    fn encode(&self) -> String {
        let secret = match self.hash {
            KeyHash::Checksum => NO_SECRET.to_owned(),
            KeyHash::Keyed(secret) => hex(&secret),
        };
        let mut text = format!("settled {}\nkey {secret}\n", self.settled);
        for ListedGeneration { name, checksum } in &self.unsorted {
            text.push_str(&format!("unsorted {checksum:08x} {name}\n"));
        }
        for part in &self.parts {
            let ListedSlot {
                slot, through, bytes, ..
            } = part;
            let (generation_set, checksum) = match &part.generation_set {
                ListedGenerationSet::Nothing => (NOTHING, 0),
                ListedGenerationSet::Generation(generation_set) => {
                    (generation_set.name.as_str(), generation_set.checksum)
                }
                ListedGenerationSet::Unsorted => (UNSORTED, 0),
            };
            let (bits, number) = (slot.bits, slot.number);
            text.push_str(&format!(
                "part {bits} {number} {through} {bytes} {checksum:08x} {generation_set}\n"
            ));
        }
        let version = match self.unsorted.is_empty() {
            true => SORTED,
            false => FORMAT.version,
        };
        FORMAT.encode(version, &text)
    }

    fn decode(text: &str) -> Option<Self> {
        let Content::Lines(version, mut lines) = FORMAT.decode(text) else {
            return None;
        };
        let settled = lines.next()?.strip_prefix("settled ")?.parse().ok()?;
        let hash = match version {
            FIRST => KeyHash::Checksum,
            _ => match lines.next()?.strip_prefix("key ")? {
                NO_SECRET => KeyHash::Checksum,
                secret if secret.len() == 32 => KeyHash::Keyed(u128::from_str_radix(secret, 16).ok()?.to_be_bytes()),
                _ => return None,
            },
        };
        let mut lines = lines.peekable();
        let mut unsorted = Vec::new();
        while let Some(line) = lines.next_if(|line| version == FORMAT.version && line.starts_with("unsorted ")) {
            let (checksum, name) = line.strip_prefix("unsorted ")?.split_once(' ')?;
            unsorted.push(ListedGeneration {
                name: name.to_owned(),
                checksum: u32::from_str_radix(checksum, 16).ok()?,
            });
        }
        let parts = lines.map(|line| {
            let mut words = line.strip_prefix("part ")?.splitn(6, ' ');
            let slot = Slot::new(words.next()?.parse().ok()?, words.next()?.parse().ok()?)?;
            let through = Revision(words.next()?.parse().ok()?);
            let bytes = words.next()?.parse().ok()?;
            let checksum = u32::from_str_radix(words.next()?, 16).ok()?;
            let generation_set = match words.next()? {
                NOTHING => ListedGenerationSet::Nothing,
                UNSORTED if unsorted.is_empty() => return None,
                UNSORTED => ListedGenerationSet::Unsorted,
                name => ListedGenerationSet::Generation(ListedGeneration {
                    name: name.to_owned(),
                    checksum,
                }),
            };
            Some(ListedSlot {
                slot,
                through,
                bytes,
                generation_set,
            })
        });
        Some(Self {
            settled: Revision(settled),
            hash,
            parts: parts.collect::<Option<_>>()?,
            unsorted,
        })
    }
}

#[cfg(test)]
mod tests {
    use planesmith_store::Revision;

    use super::{FIRST, FORMAT, List, ListedGeneration, ListedGenerationSet, ListedSlot};
    use crate::state::slot::{KeyHash, Slot};

    fn generation(name: &str) -> ListedGeneration {
        ListedGeneration {
            name: name.to_owned(),
            checksum: 7,
        }
    }

    fn part(bits: u8, number: u64, generation_set: Option<&str>) -> ListedSlot {
        ListedSlot {
            slot: Slot::new(bits, number).unwrap(),
            through: Revision(17),
            bytes: 4000,
            generation_set: generation_set.map_or(ListedGenerationSet::Nothing, |generation_set| {
                ListedGenerationSet::Generation(generation(generation_set))
            }),
        }
    }

    #[test]
    fn a_list_is_read_back_and_every_change_is_seen() {
        let list = |unsorted: Vec<_>| List {
            settled: Revision(12),
            hash: KeyHash::Keyed([0x5a; 16]),
            parts: vec![
                part(1, 0, Some("first")),
                part(2, 2, None),
                ListedSlot {
                    generation_set: match unsorted.is_empty() {
                        true => ListedGenerationSet::Generation(generation("first")),
                        false => ListedGenerationSet::Unsorted,
                    },
                    ..part(2, 3, None)
                },
            ],
            unsorted,
        };
        for unsorted in [Vec::new(), vec![generation("old"), generation("older")]] {
            check(&list(unsorted));
        }
    }

    fn check(list: &List) {
        let text = list.encode();
        for position in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[position] ^= 1;
            let changed = String::from_utf8(changed).unwrap_or_default();
            assert_eq!(List::decode(&changed), None, "changed at {position}");
            assert_eq!(List::decode(&text[..position]), None, "cut at {position}");
        }
        assert_eq!(List::decode(&text).as_ref(), Some(list));
    }

    #[test]
    fn slots_that_miss_or_share_a_key_are_no_list() {
        for (slots, is_whole) in [
            (&[(0, 0)][..], true),
            (&[(1, 0), (2, 2), (2, 3)], true),
            (&[], false),
            (&[(1, 0)], false),
            (&[(1, 1)], false),
            (&[(1, 0), (2, 3)], false),
            (&[(1, 0), (1, 0), (1, 1)], false),
            (&[(1, 0), (1, 1), (1, 1)], false),
        ] {
            let parts = slots.iter().map(|(bits, number)| part(*bits, *number, None)).collect();
            let settled = Revision::ZERO;
            let list = List {
                settled,
                hash: KeyHash::Checksum,
                unsorted: Vec::new(),
                parts,
            };
            assert_eq!(list.is_whole(), is_whole, "{slots:?}");
        }
    }

    #[test]
    fn a_list_of_the_first_version_has_slots_of_checksums() {
        let lines = "settled 12\npart 0 0 17 4000 00000007 first\n";
        let first = List::decode(&FORMAT.encode(FIRST, lines)).unwrap();
        assert_eq!(
            (first.hash, &first.parts),
            (KeyHash::Checksum, &vec![part(0, 0, Some("first"))])
        );
        assert_eq!(List::decode(&first.encode()), Some(first));
    }
}
