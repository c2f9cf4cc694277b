//! The interface between the engine and an embedded backend.

use std::sync::Arc;

use bytes::Bytes;

use crate::draft::restamped;
use crate::{Alarm, Draft, Revision};

/// One write as a backend stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The write's revision.
    pub revision: Revision,
    /// The key that was written.
    pub key: Arc<str>,
    /// The effect of the write.
    pub change: Change,
    /// The final bytes, revision inside; for a deletion those of the final state.
    pub bytes: Bytes,
    /// Offset of the revision's digits in `bytes`; `None` when they do not contain it. Encrypted bytes have no digits in them: it is
    /// the offset at which they are inserted into the plain bytes.
    pub gap: Option<u32>,
}

/// Approximate bytes that a state takes in a backend beside its object and key.
const OVERHEAD: usize = 32;

impl Record {
    /// Approximate bytes that the state of `key` takes in a backend, with an object of `bytes` bytes.
    pub(crate) fn stored_size(key: &str, bytes: usize) -> u64 {
        (key.len() + bytes + OVERHEAD) as u64
    }

    /// Bytes of the key and the object.
    #[must_use]
    pub fn size(&self) -> u64 {
        (self.key.len() + self.bytes.len()) as u64
    }

    /// The same write of another object, into which the digits of its revision are inserted.
    #[must_use]
    pub fn with_object(self, draft: Draft) -> Self {
        let encoded = draft.fill(self.revision);
        Self {
            gap: encoded.gap,
            bytes: encoded.into_shared(),
            ..self
        }
    }

    /// The same write with another revision, in its bytes, too.
    pub(crate) fn restamped(self, revision: Revision) -> Self {
        let encoded = restamped(&self.bytes, self.gap, self.revision, revision);
        Self {
            revision,
            bytes: encoded.into_shared(),
            ..self
        }
    }
}

/// The effect of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The key has a new state.
    Put {
        /// The time at which the state expires, in milliseconds since 1970; 0 means never.
        expires: u64,
    },
    /// The key was deleted.
    Delete,
}

/// Names one write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteId {
    /// The key that was written.
    pub key: Arc<str>,
    /// The write's revision.
    pub revision: Revision,
}

/// The program that has written the states of some keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Author {
    /// The fingerprint of the program.
    pub program: u64,
    /// Only states of later revisions are known to be of the program.
    pub after: Revision,
}

/// Writes that become durable together, in the order of their revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The time at which they were written, in milliseconds since 1970.
    pub at: u64,
    /// The writes.
    pub records: Vec<Record>,
}

/// The range of revisions that a backend had when it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Changes after this revision were all loaded; older ones only as far as they are still relevant.
    pub floor: Revision,
    /// The highest revision that may have been assigned.
    pub last: Revision,
}

/// Receives the content of a backend.
pub trait Loader {
    /// Receives the approximate bytes of all that follows, before it. They are for reports of progress.
    fn expect(&mut self, bytes: u64) {
        let _ = bytes;
    }
    /// Receives a state that is older than the history. States come first, in any order.
    fn state(&mut self, record: Record);
    /// Receives several such states. Those that are in the order of their keys are indexed faster.
    fn states(&mut self, records: Vec<Record>) {
        records.into_iter().for_each(|record| self.state(record));
    }
    /// Receives changes, in the order of their revisions, all newer than the states.
    fn batch(&mut self, batch: Batch);
}

/// A durable sequence of batches: the interface of an embedded backend.
///
/// The engine appends from one thread and compacts from another; it loads once, before both.
pub trait Log: Send + Sync {
    /// Passes its whole content to `loader`.
    ///
    /// # Errors
    ///
    /// The backend has data that it cannot read; the store then does not open.
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError>;

    /// Stores `batch`, and returns once it survives a loss of power.
    ///
    /// # Errors
    ///
    /// No write of the batch counts then, unless the error is [`LogError::Unknown`], and the next append may succeed.
    fn append(&self, batch: &Batch) -> Result<(), LogError>;

    /// Drops a part of the data that is superseded at `floor`, and frees its space. True if there is more to drop.
    ///
    /// Appends continue meanwhile, so a step is short.
    ///
    /// # Errors
    ///
    /// No data is lost. The engine raises [`AlarmKind::Settling`](crate::AlarmKind::Settling) and tries again later,
    /// even if nothing is written.
    fn compact(&self, floor: Revision) -> Result<bool, LogError>;

    /// Number of the steps of [`Self::compact`] that have come to an end since the start: it is larger if there is progress, and not while
    /// a step waits for the disk. Default: 0.
    fn settled_steps(&self) -> u64 {
        0
    }

    /// Lets the next [`Self::compact`] free all that it can, however little that is. Default: it always does.
    fn settle_everything(&self) {}

    /// True if [`Self::read_back`] finds the writes of the history; each has its own revision. Default: false, and history is in
    /// memory only.
    fn keeps_history(&self) -> bool {
        false
    }

    /// The author of the states under `prefix`, as an earlier process has set it. Default: none is known.
    fn author(&self, prefix: &str) -> Option<Author> {
        let _ = prefix;
        None
    }

    /// Sets the author of the states under `prefix`, for the next process. An author that a process does not set again is
    /// forgotten once it writes a state. Default: nothing is stored.
    ///
    /// # Errors
    ///
    /// The next process may know no author.
    fn set_author(&self, prefix: &str, author: Author) -> Result<(), LogError> {
        let _ = (prefix, author);
        Ok(())
    }

    /// Reads `writes` again: each that is newer than the floor of [`Self::compact`], and the last one of a key up to the floor.
    /// `None` for a write that was dropped. Appends and compaction continue meanwhile. May take long.
    ///
    /// # Errors
    ///
    /// The data cannot be read.
    fn read_back(&self, writes: &[WriteId]) -> Result<Vec<Option<Record>>, LogError> {
        Ok(vec![None; writes.len()])
    }

    /// Called when writes were refused for lack of space, after all attempts to free some: a reason for an alarm.
    fn note_full(&self) {}

    /// Receives the bytes of all newest states with their keys: the minimum that the backend stores. Called after
    /// loading and after every batch.
    fn note_live(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Maximum bytes of history that there is space for: older history is forgotten, and then settled by
    /// [`Self::compact`]. Called after every batch, so it must be cheap. Default: no limit.
    fn history_limit(&self) -> u64 {
        u64::MAX
    }

    /// True if there is space for a batch of `bytes` bytes. Otherwise the engine forgets and settles history, and
    /// refuses writes that make the state larger. Called before every batch. Default: true.
    fn has_room(&self, bytes: u64) -> bool {
        let _ = bytes;
        true
    }

    /// Stores a batch that does not make the state larger, for which space is reserved. Otherwise like
    /// [`Self::append`], which is the default.
    ///
    /// # Errors
    ///
    /// As for [`Self::append`].
    fn append_from_reserve(&self, batch: &Batch) -> Result<(), LogError> {
        self.append(batch)
    }

    /// Bytes on disk.
    fn size(&self) -> u64;

    /// The lasting faults of the backend. The implementation may query the operating system, but must not block.
    /// Default: none.
    fn alarms(&self) -> Vec<Alarm> {
        Vec::new()
    }

    /// Closes the backend; no method is called afterwards.
    ///
    /// # Errors
    ///
    /// The backend could not be closed in order. Appended batches are durable nevertheless.
    fn close(&self) -> Result<(), LogError> {
        Ok(())
    }
}

impl Log for Box<dyn Log> {
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
        (**self).load(loader)
    }

    fn append(&self, batch: &Batch) -> Result<(), LogError> {
        (**self).append(batch)
    }

    fn compact(&self, floor: Revision) -> Result<bool, LogError> {
        (**self).compact(floor)
    }

    fn settled_steps(&self) -> u64 {
        (**self).settled_steps()
    }

    fn settle_everything(&self) {
        (**self).settle_everything();
    }

    fn keeps_history(&self) -> bool {
        (**self).keeps_history()
    }

    fn author(&self, prefix: &str) -> Option<Author> {
        (**self).author(prefix)
    }

    fn set_author(&self, prefix: &str, author: Author) -> Result<(), LogError> {
        (**self).set_author(prefix, author)
    }

    fn read_back(&self, writes: &[WriteId]) -> Result<Vec<Option<Record>>, LogError> {
        (**self).read_back(writes)
    }

    fn note_full(&self) {
        (**self).note_full();
    }

    fn note_live(&self, bytes: u64) {
        (**self).note_live(bytes);
    }

    fn history_limit(&self) -> u64 {
        (**self).history_limit()
    }

    fn has_room(&self, bytes: u64) -> bool {
        (**self).has_room(bytes)
    }

    fn append_from_reserve(&self, batch: &Batch) -> Result<(), LogError> {
        (**self).append_from_reserve(batch)
    }

    fn size(&self) -> u64 {
        (**self).size()
    }

    fn alarms(&self) -> Vec<Alarm> {
        (**self).alarms()
    }

    fn close(&self) -> Result<(), LogError> {
        (**self).close()
    }
}

/// The reason that an operation of a backend failed.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// There is no space left.
    #[error("the disk is full")]
    Full,
    /// The data cannot be read; the text names the folder and the next step.
    #[error("{0}")]
    Unreadable(String),
    /// Acknowledged writes cannot be read; the text names the file, the byte, and the legible parts of the writes.
    #[error("{0}")]
    DataLoss(String),
    /// The disk failed too often: nothing is written until the next start. The text is the cause, fit for clients.
    #[error("no writes are accepted until the next start: {0}")]
    ReadOnly(String),
    /// The disk failed, and may have stored the batch: a later append drops it, the next start reads it if it is there.
    #[error("the outcome of the writes is unknown until the next start")]
    Unknown {
        /// The reason that the batch could not be made durable.
        #[source]
        cause: Box<LogError>,
    },
    /// Another process uses the data; the text names the folder.
    #[error("{0}")]
    InUse(String),
    /// The operating system refused.
    #[error("{context}")]
    Io {
        /// The operation that failed, and its file.
        context: String,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
}

impl LogError {
    /// The error itself, or the cause of an unknown outcome.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Self::Unknown { cause } => cause.cause(),
            other => other,
        }
    }

    /// The cause, fit for clients: without paths or other details of the host, which the error itself may have.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Full => "the disk is full".to_owned(),
            Self::Unreadable(_) | Self::DataLoss(_) => "the data cannot be read".to_owned(),
            Self::ReadOnly(reason) => reason.clone(),
            Self::Unknown { cause } => cause.reason(),
            Self::InUse(_) => "the data is used by another process".to_owned(),
            // Backends report how much is lacking.
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => source.to_string(),
            // Messages of the operating system contain no file names; those of other sources may.
            Self::Io { source, .. } if source.raw_os_error().is_some() => source.to_string(),
            Self::Io { source, .. } => source.kind().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::LogError;

    #[test]
    fn a_reason_for_clients_names_no_file() {
        let io = |source| LogError::Io {
            context: "cannot sync /srv/secret".to_owned(),
            source,
        };
        for (error, expected) in [
            (
                LogError::Unreadable("/srv/secret is damaged".to_owned()),
                "the data cannot be read",
            ),
            (io(Error::from_raw_os_error(5)), "Input/output error (os error 5)"),
            (io(Error::new(ErrorKind::TimedOut, "/srv/secret")), "timed out"),
        ] {
            assert_eq!(error.reason(), expected);
        }
    }
}
