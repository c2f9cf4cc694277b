//! The checksummed files that answers wait for.

mod content;
mod files;
mod found;
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
use crate::folder::{damaged, failed};
use crate::frame::{self, FileHeader};
use crate::space::Space;

pub(crate) use self::mark::Mark;
pub(crate) use self::recovery::Recovery;

/// Bytes after which a new file starts. The smaller the files, the sooner their space comes back;
/// each costs three more syncs. Where space is short they are smaller.
pub(crate) const FILE_SIZE: u64 = 8 << 20;
const SMALLEST_FILE: u64 = 512 << 10;

/// Bytes that beginning a file takes.
const START: u64 = 64 << 10;

/// Files are as many times smaller than the space that the journal may take.
const FILES: u64 = 16;

/// The journal of one folder: full files, oldest first, and the one that grows.
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
    /// The same where there is space enough.
    largest_file: u64,
    /// Changes after this revision are all there: greater than zero where damaged writes were given up.
    floor: Revision,
    /// A sync of the active file failed, and its last frames are not in another file yet.
    is_untrusted: bool,
    /// The reason nothing is written any more, until the next start.
    read_only: Option<String>,
    /// Keeps its memory from append to append.
    buffer: Vec<u8>,
}

/// A full file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    number: u64,
    /// The last write in it.
    pub(crate) last: Revision,
    pub(crate) bytes: u64,
}

impl Journal {
    /// The last durable write.
    pub(crate) fn last(&self) -> Revision {
        self.active.position().last
    }

    /// Changes after this revision are all there, unless the state has them.
    pub(crate) fn floor(&self) -> Revision {
        self.floor
    }

    /// Bytes in all files.
    pub(crate) fn size(&self) -> u64 {
        self.sealed.iter().map(|sealed| sealed.bytes).sum::<u64>() + self.active.position().end
    }

    /// Bytes that the newest file has for frames, without growing.
    pub(crate) fn headroom(&self) -> u64 {
        self.active.headroom()
    }

    /// Takes note of how many bytes all files may have together.
    pub(crate) fn fit_into(&mut self, bytes: u64) {
        self.file_size = (bytes / FILES).clamp(SMALLEST_FILE, FILE_SIZE).min(self.largest_file);
    }

    /// Writes `batch` and makes it durable. On an error nothing of it counts, unless it is [`LogError::Unknown`]: then a later
    /// start may find it, until another batch is written. What does not make the state larger may be written `from_reserve`.
    /// A full file goes on while the next one would take space of the `kept` bytes, which settling needs.
    pub(crate) fn append(&mut self, batch: &Batch, from_reserve: bool, kept: u64) -> Result<(), LogError> {
        let Some(last) = batch.records.last() else {
            return Ok(());
        };
        if let Some(reason) = &self.read_only {
            return Err(LogError::ReadOnly(reason.clone()));
        }
        if self.is_untrusted {
            return self.rescue(batch, false);
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
                // The file may still have what it was given ahead.
                Err(LogError::Full) => {}
                Err(error) => return Err(error),
            }
        }
        let growth = self.active.growth(self.buffer.len());
        if growth > 0 {
            self.space.check_for_writing(growth, from_reserve)?;
        }
        let mut appended = self.active.append(&self.buffer, last.revision);
        let is_full = matches!(appended, Err(AppendError::Refused(LogError::Full)));
        // What nobody measures, a quota for one, counts the reserve, too.
        if is_full && from_reserve && self.space.give_way(self.buffer.len() as u64 + START) {
            appended = self.active.append(&self.buffer, last.revision);
        }
        match appended {
            Ok(()) => self.mark.note(self.position()),
            Err(AppendError::Refused(error)) => return Err(error),
            Err(AppendError::Untrusted(error)) => {
                tracing::error!(%error, source = ?std::error::Error::source(&error), "the disk of the journal failed");
                self.is_untrusted = true;
                return self.rescue(batch, true);
            }
        }
        // One huge batch does not keep its memory forever.
        self.buffer.shrink_to(1 << 20);
        Ok(())
    }

    fn encode(&mut self, batch: &Batch) {
        self.buffer.clear();
        let (last, durable) = (self.last(), self.active.durable());
        frame::encode(batch, last, durable, self.active.header(), &mut self.buffer);
    }

    /// The place that the journal has reached.
    fn position(&self) -> Mark {
        let position = self.active.position();
        Mark {
            file: self.active.header().number,
            end: position.end,
            last: position.last,
            closed: false,
        }
    }

    /// The full files that are behind `floor` as a whole, oldest first.
    pub(crate) fn behind(&self, floor: Revision) -> Vec<Sealed> {
        self.sealed
            .iter()
            .copied()
            .take_while(|sealed| sealed.last <= floor)
            .collect()
    }

    /// Takes note that the file of `sealed` was removed.
    pub(crate) fn forget(&mut self, sealed: Sealed) {
        self.sealed.retain(|known| *known != sealed);
    }

    /// Removes what a refused write left, and notes that nothing is on its way any more. What is damaged from then on was damaged by others.
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
            // The rest of a refused frame stays, and is torn unless the mark says that nothing was on its way.
            Err(AppendError::Refused(error) | AppendError::Untrusted(error)) => {
                self.mark.store(mark)?;
                Err(error)
            }
        }
    }
}

/// A write in a full file, and where the bytes of its record are.
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

/// Opens a full file, to read what [`read_sealed`] has located.
pub(crate) fn open_sealed(folder: &Path, sealed: Sealed) -> Result<(std::fs::File, PathBuf), LogError> {
    let path = files::path_of(folder, sealed.number);
    let file = std::fs::File::open(&path).map_err(failed("open", &path))?;
    Ok((file, path))
}

/// Removes a full file. Without the journal, as this may take a while.
pub(crate) fn remove_sealed(folder: &Path, sealed: Sealed) -> Result<(), LogError> {
    let path = files::path_of(folder, sealed.number);
    std::fs::remove_file(&path).map_err(failed("remove", &path))
}
