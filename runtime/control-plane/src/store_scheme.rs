//! Kinds of stores that the commands about a whole store read and write.

use std::borrow::Cow;
use std::fmt;

use anyhow::Result;
use clap::{ArgMatches, Command};
use planesmith_machinery::scheme::StorageMediaType;
use planesmith_store::{Amount, Fidelity, LoadedSource, OnAmount, Revision, Target, TransferError};
use tokio::runtime::Handle;

/// Receives what was read, and the approximate bytes in all; 0 if they are not known. An error ends the work.
pub type OnRead<'a> = dyn FnMut(Amount, u64) -> Result<(), TransferError> + 'a;

/// Receives the number of revisions that were assigned, and of all. An error ends the work.
pub type OnRevision<'a> = dyn FnMut(u64, u64) -> Result<(), TransferError> + 'a;

/// A kind of store that commands name as `NAME:PLACE`. Components have further ones beside `sled:DIR`.
pub trait StoreScheme: fmt::Debug + Sync {
    /// The name, e.g. `etcd`.
    fn name(&self) -> &'static str;

    /// Adds the flags for connecting to such stores.
    fn flags(&self, command: Command) -> Command;

    /// The encoding in which the store has objects.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    fn media_type(&self, matches: &ArgMatches) -> Result<StorageMediaType>;

    /// Opens the store at `place`. The result is used outside of `runtime`, on which its work may run.
    ///
    /// # Errors
    ///
    /// A flag has a value that cannot be used, or the store does not answer.
    fn open(&self, place: &str, matches: &ArgMatches, runtime: &Handle) -> Result<Box<dyn OpenStore>>;
}

/// An open store whose whole content is read or replaced.
pub trait OpenStore {
    /// The place of the objects, for people.
    fn place(&self) -> String;

    /// True if objects are in canonical bytes, false if they are as kube-apiserver stores them.
    fn is_canonical(&self) -> bool;

    /// The name of `key` in the store, with which encrypted values are authenticated. Default: the same.
    fn stored_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        Cow::Borrowed(key)
    }

    /// Reads everything at one revision. `program` is the name of the program whose store it is, `now` the time in milliseconds
    /// since 1970.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or `progress` ends the work.
    fn read(&mut self, program: &str, now: u64, progress: &mut OnRead<'_>) -> Result<LoadedSource, TransferError>;

    /// A revision that the store has assigned. The revision of its next content is higher.
    ///
    /// # Errors
    ///
    /// The store does not answer.
    fn known_revision(&mut self) -> Result<Revision, TransferError>;

    /// Prepares the store for a content after which its revision is `revision` at least. The rest of an interrupted
    /// transfer is removed.
    ///
    /// # Errors
    ///
    /// The store has content, or cannot reach the revision.
    fn begin(&mut self, revision: Revision) -> Result<(), TransferError>;

    /// Returns the receiver of the new content, after [`begin`](Self::begin).
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    fn target(&mut self) -> Result<Box<dyn Target + '_>, TransferError>;

    /// Raises the revision of the store to that which [`begin`](Self::begin) got, after the target has finished. `progress` receives
    /// the number of revisions that are done, and of all. Default: the target has done that.
    ///
    /// # Errors
    ///
    /// The store does not answer, or `progress` ends the work.
    fn raise_revision(&mut self, progress: &mut OnRevision<'_>) -> Result<(), TransferError> {
        let _ = progress;
        Ok(())
    }

    /// The properties that the store keeps exactly.
    fn fidelity(&self) -> Fidelity;

    /// Reads the new content, after the target has finished.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    fn reread(&mut self, now: u64, progress: &mut OnRead<'_>) -> Result<LoadedSource, TransferError>;

    /// Puts the new content in place, for good. Returns what is to be said about it, for people.
    ///
    /// # Errors
    ///
    /// The former content is still in place.
    fn commit(&mut self) -> Result<Vec<String>, TransferError>;

    /// Removes the new content.
    ///
    /// # Errors
    ///
    /// Something is left; the next transfer removes it.
    fn abandon(&mut self) -> Result<(), TransferError>;
}

/// Reads all of `source` into nothing, to check it; `progress` receives each object.
///
/// # Errors
///
/// The source cannot be read, or `progress` ends the work.
pub(crate) fn check(
    source: &mut dyn planesmith_store::Source,
    progress: &mut OnAmount<'_>,
) -> Result<Amount, TransferError> {
    let mut amount = Amount::default();
    while let Some(record) = source.next()? {
        amount.add(&record);
        progress(amount)?;
    }
    Ok(amount)
}
