//! The journal: the checksummed files that answers wait for.

mod content;
mod files;
mod found;
mod frame_index;
mod inspection;
mod loss;
mod mark;
mod recovery;
mod rescue;
mod segment;
mod tail;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError, Record};

use self::content::{Content, Extent, Tail};
use self::files::Files;
use self::mark::MarkFile;
use self::segment::{AppendError, Segment};
use crate::disk::Disk;
use crate::errors::{damaged, failed};
use crate::frame::{self, FileHeader};
use crate::space::Space;

pub(crate) use self::frame_index::FrameIndex;
pub(crate) use self::inspection::JournalFolder;
pub(crate) use self::mark::Mark;
pub(crate) use self::recovery::Recovery;

/// Maximum size of a file in bytes. With smaller files space is freed sooner, but each file costs three more syncs.
/// Files are smaller where space is short.
pub(crate) const FILE_SIZE: u64 = 8 << 20;
const SMALLEST_FILE: u64 = 512 << 10;

/// Bytes that the start of a file takes.
pub(crate) const START: u64 = 64 << 10;

/// Number of files that the space for the journal is divided into, where it is short.
const FILES: u64 = 16;

/// The journal of one folder: full files, oldest first, and the active one.
#[derive(Debug)]
pub(crate) struct Journal {
    files: Files,
    disk: Disk,
    space: Space,
    mark: MarkFile,
    sealed: VecDeque<Sealed>,
    active: Segment,
    /// Bytes after which a new file starts.
    file_size: u64,
    /// The same where there is enough space.
    largest_file: u64,
    /// Changes after this revision are complete: greater than zero where damaged writes were given up.
    floor: Revision,
    /// True if a sync of the active file failed, and its last frames are not in another file yet.
    is_untrusted: bool,
    /// The reason that nothing is written any more, until the next start.
    read_only: Option<String>,
    /// Reused from append to append.
    buffer: Vec<u8>,
}

/// A full file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) number: u64,
    /// The last write in it.
    pub(crate) last: Revision,
    pub(crate) bytes: u64,
}

impl Journal {
    /// The last durable write.
    pub(crate) fn last(&self) -> Revision {
        self.active.position().last
    }

    /// Changes after this revision are complete, unless the state has them.
    pub(crate) fn floor(&self) -> Revision {
        self.floor
    }

    /// Bytes in all files.
    pub(crate) fn size(&self) -> u64 {
        self.sealed.iter().map(|sealed| sealed.bytes).sum::<u64>() + self.active.position().end
    }

    /// Bytes that frames can use in the newest file without growing it.
    pub(crate) fn headroom(&self) -> u64 {
        self.active.headroom()
    }

    /// Sets the number of bytes that all files may have together.
    pub(crate) fn fit_into(&mut self, bytes: u64) {
        self.file_size = (bytes / FILES).clamp(SMALLEST_FILE, FILE_SIZE).min(self.largest_file);
    }

    /// Writes `batch` and makes it durable. On an error the batch does not count, unless it is [`LogError::Unknown`]:
    /// then a later start may find it, until another batch is written. A batch that does not make the state larger may
    /// be written `from_reserve`. A full file is extended while the next one would use the `kept` bytes, which settling
    /// needs.
    pub(crate) fn append(&mut self, batch: &Batch, from_reserve: bool, kept: u64) -> Result<(), LogError> {
        let Some(last) = batch.records.last() else {
            return Ok(());
        };
        if let Some(reason) = &self.read_only {
            return Err(LogError::ReadOnly(reason.clone()));
        }
        if self.is_untrusted {
            return self.rescue(batch, false, from_reserve);
        }
        self.encode(batch);
        let position = self.active.position();
        let is_fresh = position.end == self.active.header().length() as u64;
        let length = self.buffer.len() as u64;
        let is_full = position.end + length > self.file_size;
        let is_short = || self.active.growth(self.buffer.len()) == 0 && self.space.free() < length + kept;
        if !is_fresh && is_full && !is_short() {
            match self.space.check_for_writing(length + START, from_reserve) {
                Ok(()) => {
                    self.roll()?;
                    self.encode(batch);
                }
                // The file may still have space that was allocated ahead.
                Err(LogError::Full) => {}
                Err(error) => return Err(error),
            }
        }
        let growth = self.active.growth(self.buffer.len());
        if growth > 0 {
            self.space.check_for_writing(growth, from_reserve)?;
        }
        // If the next file could not be created, the active one grows on.
        self.files.confirm()?;
        let mut appended = self.active.append(&self.buffer, last.revision);
        // Limits that are not measured, such as quotas, count the reserve, too.
        if from_reserve
            && let Err(AppendError::Refused(error)) = &appended
            && matches!(error.cause(), LogError::Full)
            && self.space.release_reserve(self.buffer.len() as u64 + START)
        {
            let is_unknown = matches!(error, LogError::Unknown { .. });
            appended = match self.active.append(&self.buffer, last.revision) {
                // The first attempt may still be there.
                Err(AppendError::Refused(error)) if is_unknown => Err(AppendError::Refused(unknown(error))),
                again => again,
            };
        }
        match appended {
            Ok(()) => self.mark.note(self.position()),
            Err(AppendError::Refused(error)) => return Err(error),
            Err(AppendError::Untrusted(error)) => {
                tracing::error!(%error, source = ?std::error::Error::source(&error), "the disk of the journal failed");
                self.is_untrusted = true;
                return self.rescue(batch, true, from_reserve);
            }
        }
        // The memory of one huge batch is not kept forever.
        self.buffer.shrink_to(1 << 20);
        Ok(())
    }

    fn encode(&mut self, batch: &Batch) {
        self.buffer.clear();
        let (last, durable) = (self.last(), self.active.durable());
        frame::encode(batch, last, durable, self.active.header(), &mut self.buffer);
    }

    /// The end of the journal.
    fn position(&self) -> Mark {
        let position = self.active.position();
        Mark {
            file: self.active.header().number,
            end: position.end,
            last: position.last,
            ..Mark::default()
        }
    }

    /// The full files whose writes are all before or at `floor`, oldest first.
    pub(crate) fn behind(&self, floor: Revision) -> Vec<Sealed> {
        self.sealed
            .iter()
            .copied()
            .take_while(|sealed| sealed.last <= floor)
            .collect()
    }

    /// All files, oldest first, the active one as far as it is durable.
    pub(crate) fn all(&self) -> Vec<Sealed> {
        let position = self.active.position();
        let active = Sealed {
            number: self.active.header().number,
            last: position.last,
            bytes: position.end,
        };
        self.sealed.iter().copied().chain([active]).collect()
    }

    /// Continues in a new file if all writes of the active one are before or at `floor`, so that it can be settled, too.
    pub(crate) fn seal(&mut self, floor: Revision) -> Result<(), LogError> {
        let position = self.active.position();
        let has_content = position.end > START;
        if has_content && position.last <= floor && self.read_only.is_none() && !self.is_untrusted {
            // Part of settling: writes may have used all of their reserve.
            self.space.claim(START)?;
            self.roll()?;
        }
        Ok(())
    }

    /// Forgets the file of `sealed`, which was removed.
    pub(crate) fn forget(&mut self, sealed: Sealed) {
        self.sealed.retain(|known| *known != sealed);
    }

    /// Removes the rest of a refused write, and marks the journal as closed in order. Damage that is found later was
    /// not left by this process.
    pub(crate) fn close(&mut self) -> Result<(), LogError> {
        if let Some(reason) = &self.read_only {
            return Err(LogError::ReadOnly(reason.clone()));
        }
        if self.is_untrusted {
            self.replace(None)?;
        }
        let cleaned = self.active.clean();
        let mark = self.position();
        match cleaned {
            Ok(()) => self.mark.store(Mark { closed: true, ..mark }),
            // The rest of a refused frame stays, and counts as torn unless the mark says that the journal was closed in
            // order.
            Err(AppendError::Refused(error) | AppendError::Untrusted(error)) => {
                self.mark.store(mark)?;
                Err(error)
            }
        }
    }
}

/// The error of a write that the next start may find, although it failed with `error`.
fn unknown(error: LogError) -> LogError {
    match error {
        LogError::Unknown { .. } => error,
        _ => LogError::Unknown { cause: Box::new(error) },
    }
}

/// A write in a full file, and the position of its record.
pub(crate) struct Located {
    pub(crate) record: Record,
    pub(crate) offset: u64,
    pub(crate) length: usize,
}

/// The writes of a full file, in their order.
pub(crate) fn read_sealed(folder: &Path, sealed: Sealed) -> Result<Vec<Located>, LogError> {
    let path = files::path_of(folder, sealed.number);
    let bytes = content::read_bytes(&path)?;
    let header = FileHeader::decode(&bytes).map_err(|_| damaged(&path, "it does not start like a journal"))?;
    let content = Content::parse(&path, &bytes, &header, Extent::Exactly(sealed.bytes));
    if let Tail::Damaged(damage) = content.tail {
        return Err(damaged(&path, &damage.what));
    }
    let mut located = Vec::new();
    for frame in content.frames {
        let mut offset = frame.start + frame::front_length(header.version) as u64;
        for record in frame.batch.records {
            let length = frame::length_of(&record);
            located.push(Located { record, offset, length });
            offset += length as u64;
        }
    }
    Ok(located)
}

/// Approximate bytes of all files in the folder.
pub(crate) fn size_of(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

/// Opens a full file, to read the records that [`read_sealed`] has located.
pub(crate) fn open_sealed(folder: &Path, sealed: Sealed) -> Result<(std::fs::File, PathBuf), LogError> {
    let path = files::path_of(folder, sealed.number);
    let file = std::fs::File::open(&path).map_err(failed("open", &path))?;
    Ok((file, path))
}

/// Removes a full file. Does not need the journal, because this may take a while.
pub(crate) fn remove_sealed(folder: &Path, sealed: Sealed) -> Result<(), LogError> {
    let path = files::path_of(folder, sealed.number);
    std::fs::remove_file(&path).map_err(failed("remove", &path))
}
