//! The sled database: what is in it, and making it durable.

use std::fs::File;
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Change, LogError, Record};

use crate::folder::{LOCK_ATTEMPTS, LOCK_PAUSE, damaged, failed, sync_folder, unknown_format};

/// Memory of sled's page cache. Settled state is written in passing and read once, at the start.
const CACHE: u64 = 1 << 20;
const VERSION: u8 = 1;
const VALUE_HEADER: usize = 24;
/// No key of a collection is a single zero byte, and none sorts before it.
const META_KEY: &[u8] = &[0];
const NO_GAP: u32 = u32::MAX;

/// An open database.
#[derive(Debug)]
pub(super) struct Database {
    path: PathBuf,
    sled: sled::Db,
    meta: Meta,
    /// The newest of sled's value files that is known to be on the disk; their names are numbers
    /// that grow.
    synced_blob: i64,
}

/// What the settled state is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    /// All of history up to here may be gone.
    pub(crate) floor: Revision,
    /// The last write that was settled.
    pub(crate) through: Revision,
    /// Sum of all keys' and revisions' hashes.
    digest: u64,
}

impl Database {
    /// Makes an empty database, all of it durable, and opens it.
    fn create(path: &Path) -> Result<Self, LogError> {
        // Renamed when it is whole, so that a crash cannot leave half of it.
        let new = path.with_extension("new");
        match std::fs::remove_dir_all(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed("remove", &new)(error)),
            Ok(()) | Err(_) => {}
        }
        let mut database = Self {
            path: new.clone(),
            sled: open_sled(&new)?,
            meta: Meta::default(),
            synced_blob: -1,
        };
        database.apply(&[], &Meta::default())?;
        drop(database);
        for file in std::fs::read_dir(&new).map_err(failed("read", &new))? {
            sync_file(&file.map_err(failed("read", &new))?.path())?;
        }
        sync_folder(&new)?;
        std::fs::rename(&new, path).map_err(failed("rename", &new))?;
        path.parent().map_or(Ok(()), sync_folder)?;
        Self::open(path)
    }

    /// Opens the database at `path`, or makes it.
    pub(super) fn open(path: &Path) -> Result<Self, LogError> {
        if !path.exists() {
            return Self::create(path);
        }
        let sled = open_sled(path)?;
        let meta = sled.get(META_KEY).map_err(|error| sled_error(path, &error))?;
        let meta = meta.ok_or_else(|| damaged(path, "it does not say what it holds"))?;
        let meta = Meta::decode(path, &meta)?;
        Ok(Self {
            path: path.to_owned(),
            sled,
            meta,
            synced_blob: -1,
        })
    }

    pub(super) fn meta(&self) -> Meta {
        self.meta
    }

    /// The states of the next keys behind `after`, in the order of the keys.
    pub(super) fn read(&self, after: Option<&[u8]>, limit: usize) -> Result<Vec<Record>, LogError> {
        // The first key is the one of the meta record.
        let after = after.unwrap_or(META_KEY);
        let range = (Bound::Excluded(after), Bound::Unbounded);
        let items = self.sled.range::<&[u8], _>(range).take(limit);
        items
            .map(|item| {
                let (key, value) = item.map_err(|error| sled_error(&self.path, &error))?;
                decode(&self.path, &key, &value)
            })
            .collect()
    }

    /// Makes `records` the state of their keys, and `meta`, apart from its digest, what the
    /// database says about itself. Durable when this returns.
    pub(super) fn apply(&mut self, records: &[Record], meta: &Meta) -> Result<(), LogError> {
        let mut meta = Meta {
            digest: self.meta.digest,
            ..*meta
        };
        let mut batch = sled::Batch::default();
        for record in records {
            let key = record.key.as_bytes();
            let old = self.sled.get(key).map_err(|error| sled_error(&self.path, &error))?;
            if let Some(old) = old {
                let old = decode(&self.path, key, &old)?;
                meta.digest = meta.digest.wrapping_sub(hash(key, old.revision));
            }
            match record.change {
                Change::Put { expires } => {
                    meta.digest = meta.digest.wrapping_add(hash(key, record.revision));
                    batch.insert(key, encode(record, expires));
                }
                Change::Delete => batch.remove(key),
            }
        }
        batch.insert(META_KEY, meta.encode());
        self.sled
            .apply_batch(batch)
            .map_err(|error| sled_error(&self.path, &error))?;
        self.sled.flush().map_err(|error| sled_error(&self.path, &error))?;
        self.sync()?;
        self.meta = meta;
        Ok(())
    }

    /// Makes durable what sled's own flush leaves in caches.
    fn sync(&mut self) -> Result<(), LogError> {
        sync_file(&self.path.join("db"))?;
        let blobs = self.path.join("blobs");
        let mut newest = self.synced_blob;
        for file in std::fs::read_dir(&blobs).map_err(failed("read", &blobs))? {
            let file = file.map_err(failed("read", &blobs))?;
            let Some(number) = file.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if number > self.synced_blob {
                newest = newest.max(number);
                match sync_file(&file.path()) {
                    // sled removed it meanwhile: nothing refers to it.
                    Err(LogError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
                    other => other?,
                }
            }
        }
        if newest > self.synced_blob {
            sync_folder(&blobs)?;
            self.synced_blob = newest;
        }
        Ok(())
    }
}

impl Meta {
    /// Whether `digest` is that of the settled states.
    pub(super) fn is_complete(&self, digest: u64) -> bool {
        self.digest == digest
    }

    fn encode(self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        for number in [self.floor.0, self.through.0, self.digest] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn decode(path: &Path, bytes: &[u8]) -> Result<Self, LogError> {
        let short = || damaged(path, "it does not say what it holds");
        let (version, rest) = bytes.split_first().ok_or_else(short)?;
        if *version != VERSION {
            return Err(unknown_format(path, &version.to_string()));
        }
        let (floor, rest) = number(rest).ok_or_else(short)?;
        let (through, rest) = number(rest).ok_or_else(short)?;
        let (digest, _) = number(rest).ok_or_else(short)?;
        Ok(Self {
            floor: Revision(floor),
            through: Revision(through),
            digest,
        })
    }
}

fn encode(record: &Record, expires: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(VALUE_HEADER + record.bytes.len());
    bytes.extend_from_slice(&[VERSION, 0, 0, 0]);
    bytes.extend_from_slice(&record.gap.unwrap_or(NO_GAP).to_le_bytes());
    bytes.extend_from_slice(&record.revision.0.to_le_bytes());
    bytes.extend_from_slice(&expires.to_le_bytes());
    bytes.extend_from_slice(&record.bytes);
    bytes
}

fn decode(path: &Path, key: &[u8], value: &[u8]) -> Result<Record, LogError> {
    let broken = || damaged(path, "a settled object cannot be read");
    let (start, rest) = value.split_first_chunk::<4>().ok_or_else(broken)?;
    if start[0] != VERSION {
        return Err(unknown_format(path, &start[0].to_string()));
    }
    let (gap, rest) = rest.split_first_chunk().ok_or_else(broken)?;
    let gap = Some(u32::from_le_bytes(*gap)).filter(|gap| *gap != NO_GAP);
    let (revision, rest) = number(rest).ok_or_else(broken)?;
    let (expires, bytes) = number(rest).ok_or_else(broken)?;
    let key = std::str::from_utf8(key).map_err(|_| broken())?.into();
    let revision = Revision(revision);
    let fits = |gap: u32| (gap as usize).saturating_add(revision.digits()) <= bytes.len();
    if !gap.is_none_or(fits) {
        return Err(broken());
    }
    let bytes = Bytes::copy_from_slice(bytes);
    Ok(Record {
        revision,
        key,
        change: Change::Put { expires },
        bytes,
        gap,
    })
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

/// What a state adds to the digest.
pub(super) fn digest(record: &Record) -> u64 {
    hash(record.key.as_bytes(), record.revision)
}

/// FNV-1a over key and revision, then mixed so that sums of it do not cancel out.
fn hash(key: &[u8], revision: Revision) -> u64 {
    let bytes = key.iter().copied().chain(revision.0.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn open_sled(path: &Path) -> Result<sled::Db, LogError> {
    let config = sled::Config::new()
        .path(path)
        .cache_capacity(CACHE)
        .flush_every_ms(None)
        .mode(sled::Mode::LowSpace);
    let mut attempts = 0;
    loop {
        match config.open() {
            Ok(sled) => return Ok(sled),
            // Its file may still be locked for a moment; sled does not tell that apart.
            Err(sled::Error::Io(_)) if attempts < LOCK_ATTEMPTS => attempts += 1,
            Err(error) => return Err(sled_error(path, &error)),
        }
        std::thread::sleep(LOCK_PAUSE);
    }
}

fn sync_file(path: &Path) -> Result<(), LogError> {
    // Any descriptor of a file syncs all of it.
    let file = File::open(path).map_err(failed("open", path))?;
    file.sync_data().map_err(failed("sync", path))
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
