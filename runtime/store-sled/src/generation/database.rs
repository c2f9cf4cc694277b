//! sled: the tree of one generation, from revisions to the objects that they wrote.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record};
use sha2::{Digest, Sha256};

use crate::folder::{damaged, failed};
use crate::frame;
use crate::worker::Pulse;

/// Memory of sled's page cache: a generation is written once and read once, from end to end.
const CACHE: u64 = 2 << 20;

/// Bytes of a value. sled puts pages of more than a quarter of a segment (512 KiB) into files that
/// it never syncs; a leaf has at most 17 values, so with these there is no such page.
const PART: usize = 4 << 10;

/// Bytes after which sled has to write what it has. Otherwise it keeps up to all of it in memory,
/// and its file becomes half as large again, since it only reuses what it has written.
const FLUSH: usize = 256 << 10;

/// Bytes that sled may write when it opens a database, and that have to be free then.
pub(super) const OPENING: u64 = 4 << 20;

/// No write has the revision 0, so its place says what the tree holds.
const SUMMARY: Revision = Revision::ZERO;

/// How long sled's threads may keep a closed database open.
const CLOSE_ATTEMPTS: u32 = 500;
const CLOSE_PAUSE: Duration = Duration::from_millis(20);

/// What a generation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    /// The last write that it includes.
    pub(super) through: Revision,
    pub(super) keys: u64,
    /// Bytes of all records.
    pub(super) bytes: u64,
    /// SHA-256 of all records, in the order of their revisions.
    pub(super) digest: [u8; 32],
}

/// Adds up what is written or read.
#[derive(Default)]
struct Sum {
    last: Revision,
    keys: u64,
    bytes: u64,
    digest: Sha256,
}

impl Sum {
    /// Adds the next record; false when it is out of order.
    fn add(&mut self, revision: Revision, bytes: &[u8]) -> bool {
        let follows = revision > self.last;
        self.last = revision;
        self.keys += 1;
        self.bytes += bytes.len() as u64;
        self.digest.update(bytes);
        follows
    }

    fn summary(self, through: Revision) -> Summary {
        Summary {
            through,
            keys: self.keys,
            bytes: self.bytes,
            digest: self.digest.finalize().into(),
        }
    }
}

/// A database in the making.
pub(super) struct Builder<'a> {
    path: &'a Path,
    sled: sled::Db,
    sum: Sum,
    /// Keeps its memory from record to record.
    buffer: Vec<u8>,
    /// Bytes that may wait in sled's memory.
    unflushed: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn create(path: &'a Path) -> Result<Self, LogError> {
        Ok(Self {
            path,
            sled: open(path)?,
            sum: Sum::default(),
            buffer: Vec::new(),
            unflushed: 0,
        })
    }

    /// Adds a record, which has to be newer than those before.
    pub(super) fn push(&mut self, record: &Record) -> Result<(), LogError> {
        self.buffer.clear();
        frame::encode_record(record, &mut self.buffer);
        if !self.sum.add(record.revision, &self.buffer) {
            let what = format!("revision {} comes twice, or too late", record.revision);
            return Err(damaged(self.path, &what));
        }
        for (part, bytes) in (0..).zip(self.buffer.chunks(PART)) {
            let inserted = self.sled.insert(place(record.revision, part), bytes);
            inserted.map_err(|error| sled_error(self.path, &error))?;
        }
        self.unflushed += self.buffer.len();
        if self.unflushed >= FLUSH {
            self.unflushed = 0;
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), LogError> {
        let flushed = self.sled.flush();
        flushed.map(drop).map_err(|error| sled_error(self.path, &error))
    }

    /// Ends the database, and closes it. Nothing changes its files any more when this returns.
    pub(super) fn finish(mut self, through: Revision) -> Result<Summary, LogError> {
        let summary = std::mem::take(&mut self.sum).summary(through);
        let inserted = self.sled.insert(place(SUMMARY, 0), summary.encode());
        inserted.map_err(|error| sled_error(self.path, &error))?;
        self.flush()?;
        close(self.path, self.sled)?;
        Ok(summary)
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
    let mut sum = Sum::default();
    let mut summary = None;
    let mut bytes = Vec::new();
    let mut current = SUMMARY;
    let mut parts = 0;
    let mut finish = |revision: Revision, bytes: Vec<u8>| {
        if revision == SUMMARY {
            summary = Some(bytes);
            return Ok(());
        }
        let ordered = sum.add(revision, &bytes);
        let record = frame::decode_record_alone(&Bytes::from(bytes));
        let record = record.filter(|record| ordered && record.revision == revision);
        visit(record.ok_or_else(|| damaged(path, &format!("revision {revision} cannot be read")))?)
    };
    for item in sled.iter() {
        pulse.beat()?;
        let (key, value) = item.map_err(|error| sled_error(path, &error))?;
        let (revision, part) = place_of(&key).ok_or_else(|| damaged(path, "it has an unknown key"))?;
        if revision != current {
            finish(current, std::mem::take(&mut bytes))?;
            (current, parts) = (revision, 0);
        }
        if part != parts {
            return Err(damaged(path, &format!("a part of revision {revision} is missing")));
        }
        parts += 1;
        bytes.extend_from_slice(&value);
    }
    finish(current, bytes)?;
    close(path, sled)?;
    let found = sum.summary(expected.through);
    if found != *expected || summary.as_deref() != Some(&*expected.encode()) {
        return Err(damaged(path, "it does not hold what it says that it holds"));
    }
    Ok(())
}

impl Summary {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(56);
        for number in [self.through.0, self.keys, self.bytes] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.digest);
        bytes
    }
}

/// Big-endian, so that sled has the parts of all objects in their order.
fn place(revision: Revision, part: u32) -> [u8; 12] {
    let mut place = [0; 12];
    place[..8].copy_from_slice(&revision.0.to_be_bytes());
    place[8..].copy_from_slice(&part.to_be_bytes());
    place
}

fn place_of(key: &[u8]) -> Option<(Revision, u32)> {
    let (revision, rest) = key.split_first_chunk()?;
    let part = rest.try_into().ok()?;
    Some((Revision(u64::from_be_bytes(*revision)), u32::from_be_bytes(part)))
}

fn open(path: &Path) -> Result<sled::Db, LogError> {
    let config = sled::Config::new()
        .path(path)
        .cache_capacity(CACHE)
        .flush_every_ms(None)
        .mode(sled::Mode::LowSpace);
    config.open().map_err(|error| sled_error(path, &error))
}

/// Closes the database, and waits until no thread of sled can change its files any more: they all
/// share the descriptor that has the lock.
fn close(path: &Path, sled: sled::Db) -> Result<(), LogError> {
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
    let source = std::io::Error::other("sled does not let go of it");
    Err(failed("close", &path)(source))
}

fn sled_error(path: &Path, error: &sled::Error) -> LogError {
    match error {
        sled::Error::Io(error) => failed("use", path)(std::io::Error::new(error.kind(), error.to_string())),
        sled::Error::Corruption { .. } => damaged(path, "sled found broken pages"),
        sled::Error::CollectionNotFound(_) | sled::Error::Unsupported(_) | sled::Error::ReportableBug(_) => {
            damaged(path, &error.to_string())
        }
    }
}
