//! sled: the records of one generation, in trees of one value each.
//!
//! The records are one stream of bytes, cut into blocks. A block is the only value of a tree of its own, so that sled writes it
//! once and never again: in a tree of many values it writes each about four times, and keeps two to three times their bytes.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use planesmith_store::log::{LogError, Record};

use super::places::WrittenBlock;
use super::records::RecordReader;
use super::summary::{Sum, Summary};
use crate::errors::{damaged, failed};
use crate::frame;
use crate::worker::Pulse;

/// Memory of sled's page cache: a generation is written once and read once, from end to end.
const CACHE: u64 = 2 << 20;

/// Size of a block in bytes. sled writes pages of more than a quarter of a segment (512 KiB) to files that it never
/// syncs.
const BLOCK: usize = 64_000;

/// Bytes that sled writes beside the records: lists of the trees, and a snapshot.
const OVERHEAD: u64 = 192 << 10;

/// Bytes of one of sled's segments. No database is smaller.
const SEGMENT: u64 = 512 << 10;

/// The key in the first tree that describes the others.
const SUMMARY: &[u8] = b"summary";
/// The value of a tree.
const VALUE: &[u8] = b"";

/// Attempts to lock a closed database, which sled's threads may keep open for a while.
const CLOSE_ATTEMPTS: u32 = 10_000;
const CLOSE_PAUSE: Duration = Duration::from_millis(1);

/// Maximum size of a database with so many bytes of records.
pub(super) fn size_for(records: u64) -> u64 {
    records.max(SEGMENT) + records / 16 + OVERHEAD
}

/// Maximum bytes by which a database grows when it is written with `records` more bytes of records.
pub(super) fn growth_for(records: u64) -> u64 {
    records + records / 16 + BLOCK as u64
}

/// A database that is being written.
pub(super) struct Builder<'a> {
    path: &'a Path,
    sled: sled::Db,
    sum: Sum,
    /// Blocks that are written.
    blocks: Vec<WrittenBlock>,
    /// Records that are not in a block yet.
    rest: Vec<u8>,
}

impl<'a> Builder<'a> {
    pub(super) fn create(path: &'a Path) -> Result<Self, LogError> {
        Ok(Self {
            path,
            sled: open(path)?,
            sum: Sum::default(),
            blocks: Vec::new(),
            rest: Vec::new(),
        })
    }

    /// Adds a record.
    pub(super) fn push(&mut self, record: &Record) -> Result<(), LogError> {
        let before = self.rest.len();
        frame::encode_record(record, &mut self.rest);
        self.sum.add(&self.rest[before..]);
        while self.rest.len() >= BLOCK {
            let rest = self.rest.split_off(BLOCK);
            self.write_block()?;
            self.rest = rest;
        }
        Ok(())
    }

    /// Writes a block with the remaining records.
    fn write_block(&mut self) -> Result<(), LogError> {
        let name = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        self.blocks.push(WrittenBlock::new(&self.rest));
        let written = self
            .sled
            .open_tree(name.to_be_bytes())
            .and_then(|tree| tree.insert(VALUE, std::mem::take(&mut self.rest)))
            // Otherwise sled keeps all blocks in memory, and reuses less of its file.
            .and_then(|_| self.sled.flush());
        written.map(|_| ()).map_err(|error| sled_error(self.path, &error))
    }

    /// Bytes of the records so far.
    pub(super) fn bytes(&self) -> u64 {
        self.sum.bytes()
    }

    /// Completes the database, and closes it. Its files do not change after this returns.
    pub(super) fn finish(mut self) -> Result<(Summary, Vec<WrittenBlock>), LogError> {
        if !self.rest.is_empty() {
            self.write_block()?;
        }
        let summary = self.sum.summary();
        let inserted = self.sled.insert(SUMMARY, summary.encode());
        let flushed = inserted.and_then(|_| self.sled.flush());
        flushed.map_err(|error| sled_error(self.path, &error))?;
        close(self.path, self.sled)?;
        Ok((summary, self.blocks))
    }
}

/// Reads the whole database at `path`, which sled may write to, and compares it with `expected`.
pub(super) fn read(
    path: &Path,
    expected: &Summary,
    pulse: &Pulse,
    mut visit: impl FnMut(Record) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let sled = open(path)?;
    let error = |error| sled_error(path, &error);
    let summary = sled.get(SUMMARY).map_err(error)?;
    // Besides the tree of the summary.
    let blocks = sled.tree_names().len().saturating_sub(1);
    let mut records = RecordReader::new(path);
    for block in (0..u32::MAX).take(blocks) {
        pulse.beat()?;
        let tree = sled.open_tree(block.to_be_bytes()).map_err(error)?;
        let value = tree.get(VALUE).map_err(error)?;
        let value = value.ok_or_else(|| damaged(path, "a block is missing"))?;
        records.push(&value, &mut visit)?;
    }
    close(path, sled)?;
    if records.finish() != Some(*expected) || summary.as_deref() != Some(&*expected.encode()) {
        return Err(damaged(path, "its records are not those that its summary lists"));
    }
    Ok(())
}

pub(super) fn open(path: &Path) -> Result<sled::Db, LogError> {
    let config = sled::Config::new()
        .path(path)
        .cache_capacity(CACHE)
        .flush_every_ms(None)
        .mode(sled::Mode::LowSpace);
    config.open().map_err(|error| sled_error(path, &error))
}

/// Closes the database, and waits until no thread of sled can change its files: they all share the descriptor with the
/// lock.
pub(super) fn close(path: &Path, sled: sled::Db) -> Result<(), LogError> {
    drop(sled);
    let path = path.join("db");
    let file = File::open(&path).map_err(failed("open", &path))?;
    for _ in 0..CLOSE_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(CLOSE_PAUSE),
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
        }
    }
    let source = std::io::Error::other("sled still has it locked");
    Err(failed("close", &path)(source))
}

pub(super) fn sled_error(path: &Path, error: &sled::Error) -> LogError {
    match error {
        sled::Error::Io(error) => failed("use", path)(std::io::Error::new(error.kind(), error.to_string())),
        sled::Error::Corruption { .. } => damaged(path, "sled found broken pages"),
        sled::Error::CollectionNotFound(_) | sled::Error::Unsupported(_) | sled::Error::ReportableBug(_) => {
            damaged(path, &error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use planesmith_store::Revision;
    use planesmith_store::log::{Change, Record};

    use super::{BLOCK, Builder, read, size_for};
    use crate::file_system::entries;
    use crate::worker::Pulse;

    fn record(revision: u64, length: usize) -> Record {
        Record {
            revision: Revision(revision),
            key: format!("/things/{revision}").into(),
            change: Change::Put { expires: 0 },
            bytes: Bytes::from(vec![b'x'; length]),
            gap: None,
        }
    }

    fn size(folder: &std::path::Path) -> u64 {
        let files = entries(folder).unwrap();
        files
            .iter()
            .map(|file| {
                if file.is_dir() {
                    size(file)
                } else {
                    file.metadata().unwrap().len()
                }
            })
            .sum()
    }

    #[test]
    fn records_of_any_size_are_read_back_in_their_order_and_take_little_more_than_their_bytes() {
        let lengths = [0, 1, BLOCK - 39, BLOCK, 3 << 20, 1400, 2 * BLOCK + 1];
        let records: Vec<_> = (1..)
            .zip(lengths)
            .map(|(revision, length)| record(revision, length))
            .collect();
        let many: Vec<_> = (1..2000).map(|revision| record(revision, 1400)).collect();
        for records in [Vec::new(), records, many] {
            let folder = tempfile::tempdir().unwrap();
            let mut builder = Builder::create(folder.path()).unwrap();
            records.iter().for_each(|record| builder.push(record).unwrap());
            let bytes = builder.bytes();
            let (summary, _) = builder.finish().unwrap();
            assert!(
                size(folder.path()) <= size_for(bytes),
                "{} for {bytes}",
                size(folder.path())
            );
            let mut found = Vec::new();
            let pulse = Pulse::default();
            read(folder.path(), &summary, &pulse, |record| {
                found.push(record);
                Ok(())
            })
            .unwrap();
            assert!(found == records);
            assert!(
                size(folder.path()) <= size_for(bytes),
                "{} for {bytes}",
                size(folder.path())
            );
        }
    }
}
