//! Acknowledged writes that cannot be read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record};
use planesmith_store::{Clock, SystemClock};

use super::files::Files;
use crate::disk::Disk;
use crate::errors::failed;
use crate::file_system::create_folder;
use crate::frame::{self, FileHeader};

/// Number of revisions that are skipped when writes are given up: more than can have been assigned since the mark on
/// the disk, which is half a minute old at most.
const SKIPPED: u64 = 1_000_000_000;

/// Maximum number of writes that the error names.
const NAMED: usize = 10;

/// A position at which durable bytes cannot be read.
#[derive(Debug)]
pub(super) struct Damage {
    pub(super) path: PathBuf,
    /// The description of the damage, with the byte where it starts.
    pub(super) what: String,
    /// The writes behind that byte, as far as they are legible.
    pub(super) writes: Vec<LostWrite>,
}

/// A write that is legible, though it does not count.
#[derive(Clone, Debug)]
pub(super) struct LostWrite {
    revision: Revision,
    key: Arc<str>,
}

impl From<Record> for LostWrite {
    fn from(record: Record) -> Self {
        Self {
            revision: record.revision,
            key: record.key,
        }
    }
}

/// The writes in `rest`, which starts with a broken frame, as far as they are legible.
pub(super) fn writes_behind(rest: &Bytes, header: &FileHeader) -> Vec<LostWrite> {
    let found = frame::find_whole(rest, header);
    let mut writes = frame::legible(&rest.slice(..found.map_or(rest.len(), |(start, _)| start)), header);
    let mut next = found;
    let mut rest = rest.clone();
    while let Some((start, length)) = next {
        writes.extend(frame::legible(&rest.slice(start..start + length), header));
        rest = rest.slice(start + length..);
        next = frame::find_whole(&rest, header);
    }
    writes.into_iter().map(LostWrite::from).collect()
}

impl Damage {
    /// Damage of a whole file.
    pub(super) fn of_file(path: &Path, what: &str) -> Self {
        Self {
            path: path.to_owned(),
            what: what.to_owned(),
            writes: Vec::new(),
        }
    }

    /// The error for a store that does not open. `readable` is the last revision before the damage, `durable` the last
    /// one that is known to be acknowledged.
    pub(super) fn refusal(&self, readable: Revision, durable: Revision) -> LogError {
        let mut concerned = format!("the writes after revision {readable} are affected");
        let newest = self.newest().max(durable);
        if newest > readable {
            concerned.push_str(&format!(", up to revision {newest} at least"));
        }
        if !self.writes.is_empty() {
            let named = self.writes.iter().take(NAMED);
            let named: Vec<_> = named
                .map(|write| format!("{} of {}", write.revision, write.key))
                .collect();
            concerned.push_str(&format!(", readable are {}", named.join(", ")));
        }
        if let Some(more @ 1..) = self.writes.len().checked_sub(NAMED) {
            concerned.push_str(&format!(" and {more} more"));
        }
        LogError::DataLoss(format!(
            "{} is damaged: {}; {concerned}; restore the store's folder from a backup",
            self.path.display(),
            self.what,
        ))
    }

    fn newest(&self) -> Revision {
        let revisions = self.writes.iter().map(|write| write.revision);
        revisions.max().unwrap_or(Revision::ZERO)
    }
}

/// A revision that no client has seen, although the writes that followed `known` and contained `damages` are missing.
pub(super) fn unseen(known: Revision, damages: &[Damage]) -> Revision {
    let newest = damages.iter().map(Damage::newest).max();
    Revision(newest.unwrap_or(known).max(known).0.saturating_add(SKIPPED))
}

/// Logs each write that is given up.
pub(super) fn report(readable: Revision, start: Revision, damages: &[Damage]) {
    for damage in damages {
        let Damage { path, what, writes } = damage;
        tracing::error!(path = %path.display(), damage = what, readable = writes.len(), "a damaged part of the store is dropped");
        for LostWrite { revision, key } in writes {
            tracing::error!(%revision, key = &**key, "a write is dropped");
        }
    }
    tracing::error!(
        %readable, %start,
        "the store continues after the last readable revision; revisions up to the start are skipped, because clients may have seen them"
    );
}

/// Moves damaged data to a folder that is never read again: a copy of the file that is continued before its damage, and
/// the files in `whole`. Returns the folder. Nothing is deleted.
pub(super) fn quarantine(
    root: &Path,
    files: &mut Files,
    damaged: Option<&Path>,
    whole: &[u64],
    disk: &Disk,
) -> Result<PathBuf, LogError> {
    // For people, beside the times that the operating system gives to files.
    let folder = root.join("lost").join(SystemClock.unix_millis().to_string());
    create_folder(&folder, disk)?;
    let copies = damaged.into_iter().filter_map(|path| Some((path, path.file_name()?)));
    for (path, name) in copies {
        let copy = folder.join(name);
        std::fs::copy(path, &copy).map_err(failed("copy", path))?;
        disk.sync_file(&copy)?;
    }
    for number in whole {
        let path = files.path(*number);
        if let Some(name) = path.file_name() {
            std::fs::rename(&path, folder.join(name)).map_err(failed("rename", &path))?;
        }
    }
    disk.sync_folder(&folder)?;
    files.sync()?;
    Ok(folder)
}
