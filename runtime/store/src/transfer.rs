//! Moving the content of a store: from a store or a backup into a store, with verification.

mod ledger;
mod loaded_source;
mod log_target;

pub use self::ledger::{Fidelity, Ledger, Mismatch};
pub use self::loaded_source::LoadedSource;
pub use self::log_target::LogTarget;
use crate::backup::{BackupError, BackupReader};
use crate::log::{LogError, Record};
use crate::{BackupHeader, Revision};

/// The reason that the content of a store cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The source is a backup that cannot be read.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A store cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The target cannot store the content. The text is the reason.
    #[error("{0}")]
    Target(String),
    /// The person who started the work ended it.
    #[error("interrupted")]
    Interrupted,
}

/// Receives the progress after each object. An error ends the work.
pub type OnAmount<'a> = dyn FnMut(Amount) -> Result<(), TransferError> + 'a;

/// The objects and bytes that work has moved or verified so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of objects.
    pub objects: u64,
    /// Bytes of the objects and their keys.
    pub bytes: u64,
}

impl Amount {
    /// Adds one object.
    pub fn add(&mut self, record: &Record) {
        self.objects += 1;
        self.bytes += record.size();
    }
}

/// The content of a store at one revision, object by object.
pub trait Source {
    /// The description of the content.
    fn header(&self) -> &BackupHeader;

    /// The next object, in the order of the revisions; `None` at the end. The objects are valid once it was reached.
    ///
    /// # Errors
    ///
    /// The content cannot be read.
    fn next(&mut self) -> Result<Option<Record>, TransferError>;
}

impl Source for BackupReader<'_> {
    fn header(&self) -> &BackupHeader {
        self.header()
    }

    fn next(&mut self) -> Result<Option<Record>, TransferError> {
        Ok(self.next()?)
    }
}

/// An empty store that receives the content of another one.
pub trait Target {
    /// Stores the next object, whose revision is larger than those before.
    ///
    /// # Errors
    ///
    /// The target cannot store it.
    fn put(&mut self, record: Record) -> Result<(), TransferError>;

    /// Ends the transfer: everything is durable when this returns, and the store continues after `revision`. Its history
    /// starts there, so that lists and watches from before are refused.
    ///
    /// # Errors
    ///
    /// The target cannot store the rest.
    fn finish(&mut self, revision: Revision) -> Result<(), TransferError>;
}

/// The number that is added to all revisions of a content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RevisionShift(u64);

impl RevisionShift {
    /// The least number that a restore adds: more than a store can have written after the backup was taken.
    pub const STEP: u64 = 1_000_000_000;

    /// The shift of a restore at `now`, in milliseconds since 1970, of a backup at `revision`: the store's revision becomes
    /// the time in microseconds, which no store reaches by writing, or `revision` and [`Self::STEP`] if that is more. So a
    /// revision that clients have seen is never assigned again, even if a store is restored from the same backup twice.
    #[must_use]
    pub fn for_restore(revision: Revision, now: u64) -> Self {
        Self(now.saturating_mul(1000).saturating_sub(revision.0).max(Self::STEP))
    }

    /// The same shift, or a larger one after which a content at `revision` is newer than `newest` by [`Self::STEP`] at least.
    #[must_use]
    pub fn at_least(self, revision: Revision, newest: Revision) -> Self {
        let needed = newest.0.saturating_add(Self::STEP).saturating_sub(revision.0);
        Self(self.0.max(needed))
    }

    /// The shifted revision.
    #[must_use]
    pub fn of(self, revision: Revision) -> Revision {
        Revision(revision.0.saturating_add(self.0))
    }

    /// The same object with the shifted revision.
    #[must_use]
    pub fn restamped(self, record: Record) -> Record {
        if self.0 == 0 {
            return record;
        }
        let revision = self.of(record.revision);
        record.restamped(revision)
    }
}

/// Moves everything from `source` to `target`, and adds `shift` to all revisions. Calls `progress` after each object. Of objects
/// that share a revision, which a store with several writers may have, all but the first get the next free ones.
/// Returns the ledger with which the target can be verified.
///
/// # Errors
///
/// The source cannot be read, the target not be written, or `progress` ends the work. The target is not complete then.
pub fn transfer(
    source: &mut dyn Source,
    target: &mut dyn Target,
    shift: RevisionShift,
    progress: &mut OnAmount<'_>,
) -> Result<Ledger, TransferError> {
    let revision = shift.of(source.header().revision);
    let mut ledger = Ledger::default();
    let mut amount = Amount::default();
    let mut last = Revision::ZERO;
    while let Some(record) = source.next()? {
        amount.add(&record);
        let mut record = shift.restamped(record);
        if record.revision <= last {
            record = record.restamped(last.next());
        }
        last = record.revision;
        ledger.note(&record);
        target.put(record)?;
        progress(amount)?;
    }
    target.finish(revision.max(last))?;
    Ok(ledger)
}

#[cfg(test)]
mod tests;
