//! The mark: the position up to which the journal is known to be durable, and if it was closed in order.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::LogError;

use crate::disk::Disk;
use crate::errors::failed;
use crate::file_system::create_file;
use crate::frame::Reader;

const NAME: &str = "mark";
const MAGIC: &[u8; 8] = b"PLNSMARK";
const VERSION: u32 = 1;
const LENGTH: usize = 64;

/// A position in the journal up to which every frame was durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Number of the last file; 0 before the first one.
    pub(super) file: u64,
    /// The end of its last frame.
    pub(super) end: u64,
    /// The last revision.
    pub(super) last: Revision,
    /// True if nothing was written behind that position.
    pub(super) closed: bool,
    /// The key of the file `authors` that the last program left; 0 if it does not know that file.
    pub(super) authors: u64,
}

impl Mark {
    /// Reads the mark of the store in `root`; `None` when there is none, or when it is damaged.
    pub(super) fn read(root: &Path) -> Result<Option<Self>, LogError> {
        let path = root.join(NAME);
        let mut bytes = Vec::new();
        let file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(failed("open", &path))?,
        };
        let read = file.take(LENGTH as u64 + 1).read_to_end(&mut bytes);
        read.map_err(failed("read", &path))?;
        Ok(Self::decode(&bytes))
    }

    /// Creates the mark of the store in `root`, or replaces it; durable when this returns.
    pub(crate) fn create(self, root: &Path, disk: &Disk) -> Result<(), LogError> {
        let (new, path) = (root.join("mark.new"), root.join(NAME));
        let file = create_file(&new)?;
        let written = file
            .write_all_at(&self.encode(), 0)
            .and_then(|()| disk.sync_all(&file, &path));
        written.map_err(failed("write", &new))?;
        std::fs::rename(&new, &path).map_err(failed("rename", &new))?;
        disk.sync_folder(root)
    }

    /// The last revision that was durable when the store in `root` wrote its mark; zero if there is none.
    pub(crate) fn last_in(root: &Path) -> Revision {
        let mark = Self::read(root).ok().flatten();
        mark.map_or(Revision::ZERO, |mark| mark.last)
    }

    /// The key of the file `authors` of the store in `root`; 0 if the program that wrote the mark does not know that file, or if there
    /// is no mark.
    pub(crate) fn authors_in(root: &Path) -> u64 {
        let mark = Self::read(root).ok().flatten();
        mark.map_or(0, |mark| mark.authors)
    }

    /// The path of the mark of the store in `root`.
    pub(super) fn path(root: &Path) -> PathBuf {
        root.join(NAME)
    }

    fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        let numbers = [self.file, self.end, self.last.0, u64::from(self.closed), self.authors];
        for (place, number) in bytes[16..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let checksum = checksum(&bytes);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { rest: bytes };
        let is_mark = reader.take(8)? == MAGIC && reader.u32()? == VERSION && bytes.len() == LENGTH;
        if !is_mark || reader.u32()? != checksum(bytes) {
            return None;
        }
        Some(Self {
            file: reader.u64()?,
            end: reader.u64()?,
            last: Revision(reader.u64()?),
            closed: reader.u64()? == 1,
            authors: reader.u64()?,
        })
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..12]);
    hasher.update(&bytes[16..]);
    hasher.finalize()
}

/// The mark on disk, open. It fits a sector, so it is changed in place.
#[derive(Debug)]
pub(super) struct MarkFile {
    file: File,
    path: PathBuf,
    disk: Disk,
    /// The key of the file `authors`, which every mark has.
    authors: u64,
    has_failed: bool,
}

impl MarkFile {
    pub(super) fn open(root: &Path, disk: Disk, authors: u64) -> Result<Self, LogError> {
        let path = Mark::path(root);
        let file = OpenOptions::new()
            .write(true)
            .open(&path)
            .map_err(failed("open", &path))?;
        Ok(Self {
            file,
            path,
            disk,
            authors,
            has_failed: false,
        })
    }

    /// Records the durable position. The mark itself becomes durable when the operating system writes it: an older mark
    /// is valid, too.
    pub(super) fn note(&mut self, mark: Mark) {
        let noted = self.write(mark);
        self.report(noted);
    }

    /// Like [`MarkFile::note`], and durable at once, if possible.
    pub(super) fn note_durably(&mut self, mark: Mark) {
        let noted = self.store(mark);
        self.report(noted);
    }

    /// Stores the mark; durable when this returns.
    pub(super) fn store(&self, mark: Mark) -> Result<(), LogError> {
        self.write(mark)?;
        self.disk
            .sync_data(&self.file, &self.path)
            .map_err(failed("sync", &self.path))
    }

    fn write(&self, mark: Mark) -> Result<(), LogError> {
        let authors = self.authors;
        let mark = Mark { authors, ..mark };
        self.file
            .write_all_at(&mark.encode(), 0)
            .map_err(failed("write", &self.path))
    }

    fn report(&mut self, noted: Result<(), LogError>) {
        if let Err(error) = noted
            && !std::mem::replace(&mut self.has_failed, true)
        {
            tracing::warn!(%error, "the file that records durable writes is outdated; some damage would not be detected");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_back_and_every_change_is_seen() {
        let mark = Mark {
            file: 3,
            end: 4096,
            last: Revision(17),
            closed: true,
            authors: u64::MAX,
        };
        let bytes = mark.encode();
        assert_eq!(Mark::decode(&bytes), Some(mark));
        for bit in 0..LENGTH * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Mark::decode(&flipped), None, "bit {bit}");
        }
        for end in 0..LENGTH {
            assert_eq!(Mark::decode(&bytes[..end]), None, "cut at {end}");
        }
    }
}
