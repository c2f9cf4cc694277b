//! The active file, to which frames are appended.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError};

use super::content::PlacedFrame;
use crate::disk::Disk;
use crate::errors::{damaged, failed};
use crate::frame::{self, FileHeader, Frame};

/// Bytes that are written ahead of the frames. Overwriting existing bytes makes an `fdatasync` cheaper by a third: the
/// file system has no metadata to write.
const AHEAD: u64 = 512 << 10;

/// Average bytes of the last frames from which on nothing is written ahead: beside so many bytes the metadata costs little,
/// and zeros would double what is written.
const LARGE: u64 = 8 << 10;

/// A frame counts for one eighth of the average.
const FRAMES: u64 = 8;

/// Maximum size in bytes of the blocks that file systems write. A block whose write failed may be broken as a whole.
const BLOCK: u64 = 64 << 10;

/// The end of the frames of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The end of the last frame.
    pub(super) end: u64,
    /// The last revision.
    pub(super) last: Revision,
    /// The end of the last frame before the block of `end`, which the next append writes again.
    pub(super) safe_end: u64,
    pub(super) safe_last: Revision,
}

impl Position {
    /// The position after the header of a file.
    pub(super) fn start(header: &FileHeader, last: Revision) -> Self {
        let end = header.length() as u64;
        Self {
            end,
            last,
            safe_end: end,
            safe_last: last,
        }
    }

    /// Moves to the end of the next frame.
    pub(super) fn advance(&mut self, end: u64, last: Revision) {
        if end / BLOCK > self.end / BLOCK {
            (self.safe_end, self.safe_last) = (self.end, self.last);
        }
        (self.end, self.last) = (end, last);
    }
}

/// The start of the block at `position`.
pub(super) fn block(position: u64) -> u64 {
    position - position % BLOCK
}

/// The active file, to which frames are appended.
#[derive(Debug)]
pub(super) struct Segment {
    file: File,
    path: PathBuf,
    disk: Disk,
    header: FileHeader,
    position: Position,
    /// Bytes of the file, and the number of these that are on the disk. Zeros follow the frames.
    allocated: u64,
    durable: u64,
    /// Bytes up to this position may look like a frame that was refused.
    dirty: Option<u64>,
    /// Average bytes of the last frames; 0 before the first.
    average: u64,
}

/// Bytes that are written ahead of frames with `average` bytes.
fn ahead(average: u64) -> u64 {
    match average >= LARGE {
        true => 0,
        false => AHEAD,
    }
}

/// The reason that a frame was not appended.
#[derive(Debug)]
pub(super) enum AppendError {
    /// There is no space. Existing bytes are unchanged. The error is [`LogError::Unknown`] if the frame is there nevertheless, and
    /// could not be removed.
    Refused(LogError),
    /// The disk failed: its content in the written block is unknown.
    Untrusted(LogError),
}

impl Segment {
    /// Returns the segment of a file with a header and frames, all of them durable.
    pub(super) fn new(file: File, path: PathBuf, disk: Disk, header: FileHeader, position: Position) -> Self {
        Self {
            file,
            path,
            disk,
            header,
            position,
            allocated: position.end,
            durable: position.end,
            dirty: None,
            average: 0,
        }
    }

    /// Opens a file that has frames up to `position`, followed by zeros, and is durable.
    pub(super) fn reopen(path: &Path, disk: Disk, header: FileHeader, position: Position) -> Result<Self, LogError> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(failed("open", path))?;
        let length = file.metadata().map_err(failed("read", path))?.len();
        let mut segment = Self::new(file, path.to_owned(), disk, header, position);
        (segment.allocated, segment.durable) = (length, length);
        Ok(segment)
    }

    pub(super) fn header(&self) -> &FileHeader {
        &self.header
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Bytes of the file that are known to be on the disk.
    pub(super) fn durable(&self) -> u64 {
        self.durable
    }

    /// Bytes that frames can use without growing the file.
    pub(super) fn headroom(&self) -> u64 {
        let allocated = if self.dirty.is_some() {
            self.durable
        } else {
            self.allocated
        };
        allocated - self.position.end
    }

    /// Bytes by which the file grows when a frame of `length` bytes is appended.
    pub(super) fn growth(&self, length: usize) -> u64 {
        let allocated = if self.dirty.is_some() {
            self.durable
        } else {
            self.allocated
        };
        let end = self.position.end + length as u64;
        match end > allocated {
            true => end + ahead(self.average_with(length)) - allocated,
            false => 0,
        }
    }

    /// Average bytes of the last frames, and of one with `length` bytes.
    fn average_with(&self, length: usize) -> u64 {
        let length = length as u64;
        match self.average {
            0 => length,
            average => (average * (FRAMES - 1) + length) / FRAMES,
        }
    }

    /// Writes `frame`, which ends with revision `last`, and makes it durable.
    pub(super) fn append(&mut self, frame: &[u8], last: Revision) -> Result<(), AppendError> {
        self.clean()?;
        let end = self.position.end + frame.len() as u64;
        if let Err(error) = self.write(frame) {
            self.dirty = Some(end);
            if is_full(&error) {
                // Repeated before the next append.
                let is_removed = self.clean().is_ok();
                let error = failed("write", &self.path)(error);
                return Err(AppendError::Refused(match is_removed || !self.has(frame) {
                    true => error,
                    false => LogError::Unknown { cause: Box::new(error) },
                }));
            }
            return Err(AppendError::Untrusted(failed("write", &self.path)(error)));
        }
        if let Err(error) = self.disk.sync_data(&self.file, &self.path) {
            self.dirty = Some(end);
            return Err(AppendError::Untrusted(failed("sync", &self.path)(error)));
        }
        self.durable = self.allocated;
        self.position.advance(end, last);
        Ok(())
    }

    /// True if the bytes behind the last frame are those of `frame`, or cannot be read.
    fn has(&self, frame: &[u8]) -> bool {
        let mut found = vec![0; frame.len()];
        match self.file.read_exact_at(&mut found, self.position.end) {
            Ok(()) => found == frame,
            Err(error) => error.kind() != ErrorKind::UnexpectedEof,
        }
    }

    fn write(&mut self, frame: &[u8]) -> std::io::Result<()> {
        let end = self.position.end + frame.len() as u64;
        let average = self.average_with(frame.len());
        let ahead = ahead(average);
        if end > self.allocated && ahead > 0 {
            self.extend(end - self.allocated + ahead)?;
        }
        self.disk.write_at(&self.file, &self.path, frame, self.position.end)?;
        self.allocated = self.allocated.max(end);
        self.average = average;
        Ok(())
    }

    /// Writes zeros ahead, if there is space for them.
    fn extend(&mut self, bytes: u64) -> std::io::Result<()> {
        let zeros = vec![0; usize::try_from(bytes).unwrap_or_default()];
        match self.disk.write_at(&self.file, &self.path, &zeros, self.allocated) {
            Ok(()) => {
                self.allocated += bytes;
                Ok(())
            }
            // The frame itself may still fit.
            Err(error) if is_full(&error) => self.file.set_len(self.allocated),
            Err(error) => Err(error),
        }
    }

    /// Removes the rest of a refused frame, so that it cannot be read as a frame. The removal is durable when this
    /// returns.
    pub(super) fn clean(&mut self) -> Result<(), AppendError> {
        let Some(dirty) = self.dirty else {
            return Ok(());
        };
        let end = self.position.end;
        // The frames promise that the file has at least the durable bytes.
        let zeros = vec![0; usize::try_from(dirty.min(self.durable).saturating_sub(end)).unwrap_or_default()];
        let cut = self.file.set_len(self.durable);
        let cleared = cut.and_then(|()| self.disk.write_at(&self.file, &self.path, &zeros, end));
        if let Err(error) = cleared {
            let is_full = is_full(&error);
            let error = failed("repair", &self.path)(error);
            return Err(if is_full {
                AppendError::Refused(error)
            } else {
                AppendError::Untrusted(error)
            });
        }
        let synced = self.disk.sync_data(&self.file, &self.path);
        synced.map_err(|error| AppendError::Untrusted(failed("sync", &self.path)(error)))?;
        self.allocated = self.durable;
        self.dirty = None;
        Ok(())
    }

    /// The frames that share a block with the end of the file.
    pub(super) fn unsafe_frames(&self) -> Result<Vec<(Batch, Revision)>, LogError> {
        let Position { safe_end, end, .. } = self.position;
        let mut bytes = vec![0; usize::try_from(end - safe_end).unwrap_or_default()];
        let read = self.file.read_exact_at(&mut bytes, safe_end);
        read.map_err(failed("read", &self.path))?;
        let mut rest = Bytes::from(bytes);
        let mut frames = Vec::new();
        while !rest.is_empty() {
            let Frame::Whole(whole) = frame::decode(&rest, &self.header) else {
                return Err(damaged(&self.path, "its last frames cannot be read back"));
            };
            rest = rest.slice(whole.length..);
            frames.push((whole.batch, whole.previous));
        }
        Ok(frames)
    }

    /// Frees the space behind `end`: the next file declares that nothing there counts.
    pub(super) fn truncate(&self, end: u64) {
        if let Err(error) = self.file.set_len(end) {
            tracing::debug!(path = %self.path.display(), %error, "the space behind the end of a journal file is not freed");
        }
    }
}

/// Makes the content of a file durable that may never have been synced, or whose sync may have failed. `bytes` is the
/// content now, `unsynced` the frames that may not be on the disk; with `clear`, the bytes behind these are replaced by
/// zeros.
pub(super) fn secure(
    path: &Path,
    bytes: &Bytes,
    unsynced: Range<u64>,
    clear: bool,
    disk: &Disk,
) -> Result<(), LogError> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let file = opened.map_err(failed("open", path))?;
    let place = |position: u64| usize::try_from(position).unwrap_or(usize::MAX).min(bytes.len());
    let Range { start, end } = unsynced;
    let rest = if clear { &bytes[place(end)..] } else { &[] };
    let dirty = rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    // Written again, because a failed sync leaves pages that no later sync writes.
    let again = disk.write_at(&file, path, &bytes[place(start)..place(end)], start);
    let cleared = again.and_then(|()| disk.write_at(&file, path, &vec![0; dirty], end));
    let synced = cleared.and_then(|()| disk.sync_all(&file, path));
    synced.map_err(failed("sync", path))
}

/// The position after `frames`.
pub(super) fn position_behind(header: &FileHeader, start: Revision, frames: &[PlacedFrame]) -> Position {
    let mut position = Position::start(header, start);
    for frame in frames {
        position.advance(frame.end, frame.last());
    }
    position
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Follows;

    #[test]
    fn frames_in_the_block_of_the_end_are_not_safe() {
        let header = FileHeader::new(1, 1, Follows::default());
        let mut position = Position::start(&header, Revision(4));
        let mut safe = Vec::new();
        for (end, last) in [
            (1000, 5),
            (BLOCK, 6),
            (BLOCK + 10, 7),
            (3 * BLOCK + 1, 8),
            (3 * BLOCK + 2, 9),
        ] {
            position.advance(end, Revision(last));
            safe.push((position.safe_end, position.safe_last.0));
        }
        assert_eq!(safe, [(64, 4), (1000, 5), (1000, 5), (BLOCK + 10, 7), (BLOCK + 10, 7)]);
    }
}
