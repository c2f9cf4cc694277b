//! The places of blocks in sled's own file: they are read from there without sled, and without a copy for it.
//!
//! sled writes a value as it is, in one piece, and a generation never changes. So a block that was found once stays where it is.

use std::path::Path;

use planesmith_store::log::LogError;

use crate::errors::damaged;

/// Bytes at the start of a block by which it is found.
const NEEDLE: usize = 24;

/// Maximum number of places with these bytes that are compared with a block: in values of equal bytes each place is one.
const CANDIDATES: usize = 64;

/// A block in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPlace {
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl BlockPlace {
    /// The bytes of the block in `file`, which is that of the generation at `path`.
    pub(super) fn of<'f>(self, file: &'f [u8], path: &Path) -> Result<&'f [u8], LogError> {
        let range = usize::try_from(self.offset).ok().zip(usize::try_from(self.length).ok());
        let bytes = range.and_then(|(offset, length)| file.get(offset..)?.get(..length));
        bytes.ok_or_else(|| damaged(path, "a block is outside of its file"))
    }
}

/// A written block whose place is not known yet.
#[derive(Debug)]
pub(super) struct WrittenBlock {
    needle: Vec<u8>,
    length: usize,
    /// CRC-32.
    checksum: u32,
}

impl WrittenBlock {
    pub(super) fn new(block: &[u8]) -> Self {
        Self {
            needle: block[..block.len().min(NEEDLE)].to_vec(),
            length: block.len(),
            checksum: crc32fast::hash(block),
        }
    }

    /// The first place of the block in `file` from byte `from` on; `None` also if too many places look like it.
    fn find(&self, file: &[u8], from: usize) -> Option<BlockPlace> {
        let (first, _) = self.needle.split_first()?;
        let (mut at, mut candidates) = (from, 0);
        loop {
            at += file.get(at..)?.iter().position(|byte| byte == first)?;
            if file[at..].starts_with(&self.needle) {
                if crc32fast::hash(file.get(at..)?.get(..self.length)?) == self.checksum {
                    return Some(BlockPlace {
                        offset: at as u64,
                        length: self.length as u64,
                    });
                }
                candidates += 1;
                if candidates == CANDIDATES {
                    return None;
                }
            }
            at += 1;
        }
    }
}

/// Finds all `blocks` in `file`; `None` if sled did not write one of them in one piece.
pub(super) fn find_all(file: &[u8], blocks: &[WrittenBlock]) -> Option<Vec<BlockPlace>> {
    // They are behind each other, unless sled has reused an earlier part of its file.
    let mut end = 0;
    let places = blocks.iter().map(|block| {
        let place = block.find(file, end).or_else(|| block.find(file, 0))?;
        end = usize::try_from(place.offset + place.length).ok()?;
        Some(place)
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_in_any_order_and_only_as_a_whole() {
        let (one, two) = (vec![b'x'; 100], [vec![b'x'; 50], vec![b'y'; 50]].concat());
        let blocks = [&one, &two].map(|block| WrittenBlock::new(block));
        let place = |offset| BlockPlace { offset, length: 100 };
        // Half of a block, which starts like the whole one, is no place.
        let file = [b"-", &two[..60], b"--", &two[..], b"-", &one[..]].concat();
        assert_eq!(find_all(&file, &blocks), Some(vec![place(164), place(63)]));
        assert_eq!(place(63).of(&file, Path::new("")).unwrap(), two);
        assert!(place(165).of(&file, Path::new("")).is_err());
        assert_eq!(find_all(&file[..file.len() - 1], &blocks), None);
        assert_eq!(find_all(&file, &[]), Some(Vec::new()));
        let alike = [&[b'x'; 1000][..], &two[..]].concat();
        assert_eq!(find_all(&alike, &blocks[1..]), None, "too many places look like it");
    }
}
