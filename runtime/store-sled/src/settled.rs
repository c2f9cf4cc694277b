//! The state of every key before the journal, in sled.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Change, LogError, Record};

use crate::folder::{damaged, failed, sync_folder, unknown_format};

/// Memory of sled's page cache. Settled state is written in passing and read once, at the start.
const CACHE: u64 = 1 << 20;
const VERSION: u8 = 1;
const VALUE_HEADER: usize = 24;
/// No key of a collection is a single zero byte.
const META_KEY: &[u8] = &[0];
const NO_GAP: u32 = u32::MAX;

/// The database, and what it says about itself.
#[derive(Debug)]
pub(crate) struct Settled {
    path: PathBuf,
    /// `None` while it is not needed, as sled takes ten times the memory of its cache; and after an
    /// error, as sled then refuses everything until it is opened again.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    database: sled::Db,
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

impl Settled {
    /// Opens the database, or makes it.
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        let mut settled = Self {
            path: path.to_owned(),
            open: None,
        };
        settled.opened()?;
        Ok(settled)
    }

    /// What the database says about itself.
    pub(crate) fn meta(&mut self) -> Result<Meta, LogError> {
        Ok(self.opened()?.meta)
    }

    /// Hands over every settled state, and checks that none is missing.
    pub(crate) fn load(&mut self, mut visit: impl FnMut(Record)) -> Result<(), LogError> {
        let path = self.path.clone();
        self.guarded(|open| {
            let mut digest = 0_u64;
            for item in open.database.iter() {
                let (key, value) = item.map_err(|error| sled_error(&path, &error))?;
                if key == META_KEY {
                    continue;
                }
                let record = decode(&path, &key, &value)?;
                digest = digest.wrapping_add(hash(&key, record.revision));
                visit(record);
            }
            if digest == open.meta.digest {
                return Ok(());
            }
            Err(damaged(
                &path,
                "settled objects are missing or older than they should be",
            ))
        })
    }

    /// Notes that history up to `floor` is about to go.
    pub(crate) fn begin(&mut self, floor: Revision) -> Result<(), LogError> {
        self.apply_with(&[], |meta| meta.floor = meta.floor.max(floor))
    }

    /// Makes `records` the state of their keys. Durable when this returns.
    pub(crate) fn apply(&mut self, records: &[Record]) -> Result<(), LogError> {
        self.apply_with(records, |_| {})
    }

    /// Notes that everything up to `through` is settled.
    pub(crate) fn finish(&mut self, through: Revision) -> Result<(), LogError> {
        self.apply_with(&[], |meta| meta.through = meta.through.max(through))
    }

    /// Bytes on disk of the database at `path`.
    pub(crate) fn size(path: &Path) -> u64 {
        std::fs::metadata(path.join("db")).map_or(0, |file| file.len())
    }

    /// Lets go of the files, and of the memory that sled uses; the next call opens them again.
    pub(crate) fn close(&mut self) {
        // Everything is on the disk already, so closing cannot lose anything. A failed database
        // may panic once more.
        let open = self.open.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(open)));
    }

    fn apply_with(&mut self, records: &[Record], change: impl FnOnce(&mut Meta)) -> Result<(), LogError> {
        let path = self.path.clone();
        self.guarded(|open| open.apply(&path, records, change))
    }

    /// Runs `work` on the open database. After an error, or a panic of sled, the database is
    /// closed and opened again next time.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Open) -> Result<T, LogError>) -> Result<T, LogError> {
        let path = self.path.clone();
        let open = self.opened()?;
        let result =
            catch_unwind(AssertUnwindSafe(|| work(open))).unwrap_or_else(|_| Err(damaged(&path, "sled panicked")));
        if result.is_err() {
            self.close();
        }
        result
    }

    fn opened(&mut self) -> Result<&mut Open, LogError> {
        let open = match self.open.take() {
            Some(open) => open,
            None => Open::new(&self.path)?,
        };
        Ok(self.open.insert(open))
    }
}

impl Open {
    fn new(path: &Path) -> Result<Self, LogError> {
        let fresh = !path.exists();
        let config = sled::Config::new()
            .path(path)
            .cache_capacity(CACHE)
            .flush_every_ms(None)
            .mode(sled::Mode::LowSpace);
        let database = catch_unwind(AssertUnwindSafe(|| config.open()))
            .map_err(|_| damaged(path, "sled panicked"))?
            .map_err(|error| sled_error(path, &error))?;
        let meta = match database.get(META_KEY).map_err(|error| sled_error(path, &error))? {
            Some(value) => Meta::decode(path, &value)?,
            None if database.is_empty() => Meta::default(),
            None => return Err(damaged(path, "it does not say what it holds")),
        };
        let mut open = Self {
            database,
            meta,
            synced_blob: -1,
        };
        if fresh {
            open.sync(path)?;
            // The folder's own name, and the file that holds sled's settings.
            sync_file(&path.join("conf"))?;
            path.parent().map_or(Ok(()), sync_folder)?;
        }
        Ok(open)
    }

    fn apply(&mut self, path: &Path, records: &[Record], change: impl FnOnce(&mut Meta)) -> Result<(), LogError> {
        let mut meta = self.meta;
        change(&mut meta);
        let mut batch = sled::Batch::default();
        for record in records {
            let key = record.key.as_bytes();
            let old = self.database.get(key).map_err(|error| sled_error(path, &error))?;
            if let Some(old) = old {
                let old = decode(path, key, &old)?;
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
        self.database
            .apply_batch(batch)
            .map_err(|error| sled_error(path, &error))?;
        self.database.flush().map_err(|error| sled_error(path, &error))?;
        self.sync(path)?;
        self.meta = meta;
        Ok(())
    }

    /// Makes durable what sled's own flush leaves in caches.
    fn sync(&mut self, path: &Path) -> Result<(), LogError> {
        sync_file(&path.join("db"))?;
        let blobs = path.join("blobs");
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
                    Err(LogError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
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

/// FNV-1a over key and revision, then mixed so that sums of it do not cancel out.
fn hash(key: &[u8], revision: Revision) -> u64 {
    let bytes = key.iter().copied().chain(revision.0.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
