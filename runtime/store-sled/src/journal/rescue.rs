//! Starting the next file: when one is full, and when the disk failed one.

use std::time::Duration;

use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError};

use super::segment::{Position, Segment};
use super::{FILE_SIZE, Journal, Sealed};
use crate::frame::{self, FileHeader, Follows};
use crate::random;

/// Number of consecutive failures of the disk after which the store becomes read-only.
const ATTEMPTS: u32 = 3;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// "Too many open files", of the process and of the system.
const NO_DESCRIPTORS: [i32; 2] = [24, 23];

impl Journal {
    /// Starts the next file, because the active one is full. The active one is extended while space or descriptors are
    /// short.
    pub(super) fn roll(&mut self) -> Result<(), LogError> {
        let position = self.active.position();
        let follows = Follows {
            file: self.active.header().number,
            end: position.end,
            last: position.last,
            start: position.last,
        };
        match self.persist(|journal| journal.start_next(follows, &[])) {
            Err(error) if is_shortage(&error) => {
                tracing::warn!(%error, "the journal continues in a full file");
                Ok(())
            }
            other => other,
        }
    }

    /// Writes `batch` to a new file, with the frames of the active file that a failed sync has made doubtful: the
    /// operating system treats their pages as written, so syncing the file again would succeed without writing them.
    ///
    /// On an error the batch does not count. If it is in the active file, zeros take its place; if these are not durable
    /// either, the error is [`LogError::Unknown`]. As in [`Journal::append`], the reserve may give way to the batch.
    pub(super) fn rescue(&mut self, batch: &Batch, is_in_active: bool, from_reserve: bool) -> Result<(), LogError> {
        let mut replaced = self.persist(|journal| journal.replace(Some(batch)));
        if from_reserve && matches!(replaced, Err(LogError::Full)) && self.space.release_reserve(FILE_SIZE) {
            replaced = self.persist(|journal| journal.replace(Some(batch)));
        }
        if let Err(error) = replaced {
            let is_removed = !is_in_active || self.active.clean().is_ok();
            if is_removed && !self.files.has_unconfirmed_file() {
                return Err(error);
            }
            let cause = Box::new(error);
            return Err(LogError::Unknown { cause });
        }
        tracing::warn!(
            file = self.active.header().number,
            "the journal continues in a new file after a disk error"
        );
        Ok(())
    }

    /// Tries `work` several times while the disk fails. After that the store is read-only until it is started again.
    fn persist(&mut self, mut work: impl FnMut(&mut Self) -> Result<(), LogError>) -> Result<(), LogError> {
        let mut attempt = 1;
        loop {
            match work(self) {
                Err(error) if is_shortage(&error) => return Err(error),
                Err(error) if attempt < ATTEMPTS => {
                    tracing::error!(%error, source = ?std::error::Error::source(&error), attempt, "the disk of the journal failed");
                    attempt += 1;
                    std::thread::sleep(PAUSE);
                }
                Err(error) => {
                    tracing::error!(%error, source = ?std::error::Error::source(&error), "the journal is read-only");
                    let reason = format!("the disk failed {ATTEMPTS} times: {}", error.reason());
                    self.read_only = Some(reason.clone());
                    return Err(LogError::ReadOnly(reason));
                }
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Continues in a new file, which starts with the doubtful frames of the active one, and with `batch`.
    pub(super) fn replace(&mut self, batch: Option<&Batch>) -> Result<(), LogError> {
        let mut frames = self.active.unsafe_frames()?;
        frames.extend(batch.map(|batch| (batch.clone(), self.last())));
        let position = self.active.position();
        let header = self.active.header();
        let follows = if position.safe_end == header.length() as u64 {
            // Not even the header can be trusted. Nothing else of the file counts, so the new file takes its place.
            header.follows
        } else {
            Follows {
                file: header.number,
                end: position.safe_end,
                last: position.safe_last,
                start: position.safe_last,
            }
        };
        self.start_next(follows, &frames)?;
        self.is_untrusted = false;
        Ok(())
    }

    /// Creates the next file, with `frames`, and continues there.
    fn start_next(&mut self, follows: Follows, frames: &[(Batch, Revision)]) -> Result<(), LogError> {
        let old = self.active.header().number;
        let header = FileHeader::new(old + 1, random::number(), follows);
        let (content, position) = encode_file(&header, frames);
        let file = self.files.create(header.number, &content)?;
        let path = self.files.path(header.number);
        let next = Segment::new(file, path, self.disk.clone(), header, position);
        let full = std::mem::replace(&mut self.active, next);
        if follows.file == old {
            full.truncate(follows.end);
            self.sealed.push_back(Sealed {
                number: old,
                last: follows.last,
                bytes: follows.end,
            });
        } else if let Err(error) = self.files.remove(old) {
            // The next start removes it.
            tracing::debug!(%error, "a replaced file of the journal is not removed");
        }
        self.mark.note_durably(self.position());
        self.files.prepare();
        Ok(())
    }
}

/// The bytes of a new file, and the end of its frames.
pub(super) fn encode_file(header: &FileHeader, frames: &[(Batch, Revision)]) -> (Vec<u8>, Position) {
    let mut content = header.encode().to_vec();
    let mut position = Position::start(header, header.follows.start);
    for (batch, previous) in frames {
        // A file with a name has all of its first frames.
        frame::encode(batch, *previous, 0, header, &mut content);
        let last = batch.records.last().map_or(*previous, |record| record.revision);
        position.advance(content.len() as u64, last);
    }
    (content, position)
}

/// True if the operating system lacks a resource that may be available again later.
fn is_shortage(error: &LogError) -> bool {
    match error {
        LogError::Full => true,
        LogError::Io { source, .. } => source.raw_os_error().is_some_and(|code| NO_DESCRIPTORS.contains(&code)),
        LogError::Unreadable(_)
        | LogError::InUse(_)
        | LogError::ReadOnly(_)
        | LogError::DataLoss(_)
        | LogError::Unknown { .. } => false,
    }
}
