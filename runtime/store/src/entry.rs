//! One object in the cache.

mod adapted;
mod compressed;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use bytes::Bytes;

use crate::compression::Dictionary;
use crate::draft::{Draft, Encoded, restamped};
use crate::encodings::{Budget, EncodingCache, EncodingId, Encodings, Holder};
use crate::key::KeyedRow;
use crate::transformer::{Reason, is_encrypted};
use crate::values::Values;
use crate::{Decoded, Indexer, Loaded, Revision, Row, RowRef, StoredForm, TransformError};

/// The state of one key after one write: the bytes that clients receive, and the row that selectors read. Never
/// changes, except that the backend's form of it may become an earlier one.
#[derive(Debug)]
pub struct Entry {
    keyed_row: KeyedRow,
    revision: Revision,
    /// Of an adapted entry the bytes for readers, the stored bytes, the offset of the revision in these, and the length of the
    /// former; otherwise the bytes alone, compressed if there is a dictionary.
    bytes: Box<[u8]>,
    /// Reads compressed bytes. An adapted entry has none.
    dictionary: Option<Arc<Dictionary>>,
    /// Milliseconds since 1970; 0 means that the entry does not expire.
    expires: u64,
    /// The number of the last [`SchemaEpoch`] that the bytes match; 0 before any.
    schema_epoch: AtomicU32,
    /// Length of an encoding that is not cached; 0 before it is known.
    encoded_length: AtomicU32,
    /// Offset of the revision's digits in the bytes; [`NO_GAP`] if these do not contain it.
    gap: u32,
    /// Length of compressed bytes for readers.
    expanded: u32,
    /// A [`StoredForm`].
    form: AtomicU8,
    /// True if the definition of the kind makes other bytes of the stored ones.
    is_adapted: bool,
    encodings: Encodings,
}

/// In place of an offset: half of the bytes of an `Option`.
const NO_GAP: u32 = u32::MAX;

/// An epoch: the entries of a collection were adapted to one definition of their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaEpoch(u32);

impl SchemaEpoch {
    /// Returns a new, unique epoch.
    pub(crate) fn next() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Entry {
    fn new(keyed_row: KeyedRow, revision: Revision, encoded: Encoded, expires: u64) -> Self {
        Self {
            keyed_row,
            revision,
            bytes: encoded.bytes.into(),
            dictionary: None,
            gap: encoded.gap.unwrap_or(NO_GAP),
            expanded: 0,
            expires,
            schema_epoch: AtomicU32::default(),
            encoded_length: AtomicU32::default(),
            form: AtomicU8::new(StoredForm::Current as u8),
            is_adapted: false,
            encodings: Encodings::default(),
        }
    }

    /// Returns the entry of a write, which replaces the state `previous`.
    pub(crate) fn written(
        key: &str,
        (draft, row): (Draft, &Row),
        revision: Revision,
        expires: u64,
        previous: Option<&Self>,
    ) -> Self {
        if let Some(again) = previous.and_then(|previous| previous.stored_again(&draft, revision, expires)) {
            return again;
        }
        let same = previous.filter(|previous| previous.row() == row.view());
        let keyed_row = same.map_or_else(|| KeyedRow::new(key, row.view()), |previous| previous.keyed_row.clone());
        Self::new(keyed_row, revision, draft.fill(revision), expires)
    }

    /// The same entry, which shares its key and row with `previous` if they are the same.
    pub(crate) fn sharing(self, previous: Option<&Self>) -> Self {
        match previous {
            Some(previous) if previous.keyed_row == self.keyed_row => Self {
                keyed_row: previous.keyed_row.clone(),
                ..self
            },
            Some(_) | None => self,
        }
    }

    /// Returns the entry of bytes that the backend loaded, in the form that `indexer` returns; if `is_known`, a program like this
    /// one has written them.
    pub(crate) fn loaded(
        key: &str,
        revision: Revision,
        stored: Encoded,
        expires: u64,
        (indexer, values): (&dyn Indexer, &Values),
        is_known: bool,
    ) -> Self {
        let was_encrypted = is_encrypted(&stored.bytes);
        let (plain, sealed, is_stale) = match values.open_state(key, revision, &stored) {
            Ok((Some(plain), is_stale)) => (plain, Some(stored), is_stale),
            Ok((None, is_stale)) => (stored, None, is_stale),
            Err(error) => return Self::sealed(key, revision, stored, expires, indexer, &error),
        };
        // A cipher without authentication may decrypt with a wrong key.
        let loaded = match is_known && !was_encrypted {
            true => indexer.loaded_again(&plain.bytes),
            false => indexer.loaded(&plain.bytes),
        };
        let (encoded, form) = match loaded {
            Loaded::AsStored => (plain, StoredForm::Current),
            Loaded::Unreadable if was_encrypted => {
                let stored = sealed.unwrap_or(plain);
                return Self::sealed(key, revision, stored, expires, indexer, &TransformError::no_object());
            }
            Loaded::Unreadable => (plain, StoredForm::Unreadable),
            Loaded::Converted(draft) => (draft.fill(revision), StoredForm::OtherVersion),
            Loaded::Encoded(draft) => match draft.fill(revision) {
                today if today.bytes == plain.bytes => (plain, StoredForm::Current),
                today => (today, StoredForm::Earlier),
            },
        };
        let keyed_row = KeyedRow::new(key, indexer.row(key, &encoded.bytes).view());
        Self::new(keyed_row, revision, encoded, expires).in_form(form.if_stale(is_stale))
    }

    /// Returns the entry of bytes that a backend in which others write has stored.
    pub(crate) fn decoded(
        key: &str,
        revision: Revision,
        stored: &Bytes,
        (indexer, values): (&dyn Indexer, &Values),
    ) -> Self {
        let (plain, is_stale) = match values.open(key, stored) {
            Ok(opened) => match opened.bytes {
                Cow::Borrowed(_) => (stored.clone(), opened.is_stale),
                Cow::Owned(plain) => (plain.into(), opened.is_stale),
            },
            Err(error) => {
                let stored = Encoded {
                    bytes: stored.to_vec(),
                    gap: None,
                };
                return Self::sealed(key, revision, stored, 0, indexer, &error);
            }
        };
        let Decoded {
            draft,
            form,
            adapted_from,
        } = indexer.decode(key, &plain);
        if form == StoredForm::Unreadable && is_encrypted(stored) {
            let stored = Encoded {
                bytes: stored.to_vec(),
                gap: None,
            };
            return Self::sealed(key, revision, stored, 0, indexer, &TransformError::no_object());
        }
        let encoded = draft.fill(revision);
        let keyed_row = KeyedRow::new(key, indexer.row(key, &encoded.bytes).view());
        let entry = Self::new(keyed_row, revision, encoded, 0).in_form(form.if_stale(is_stale));
        match adapted_from {
            Some(stored) => entry.adapted_from(&stored.fill(revision)),
            None => entry,
        }
    }

    /// Returns the entry of a value that cannot be opened: its bytes stay those of the backend.
    fn sealed(
        key: &str,
        revision: Revision,
        stored: Encoded,
        expires: u64,
        indexer: &dyn Indexer,
        error: &TransformError,
    ) -> Self {
        tracing::error!(key, %revision, %error, "an object in the store cannot be decrypted; it stays as it is");
        // The row of an object without properties.
        let keyed_row = KeyedRow::new(key, indexer.row(key, b"{}").view());
        Self::new(keyed_row, revision, stored, expires).in_form(StoredForm::Unreadable)
    }

    /// The same state, opened again after the configuration of `values` has changed; `None` if the entry is readable, or still
    /// cannot be opened. If the backend `is_shared`, it has bytes of its own encoding.
    pub(crate) fn reopened(&self, indexer: &dyn Indexer, values: &Values, is_shared: bool) -> Option<Self> {
        if self.is_readable() || values.open(self.key(), &self.bytes()).is_err() {
            return None;
        }
        let (key, read) = (self.key(), (indexer, values));
        let stored = Encoded {
            bytes: self.bytes().into_owned(),
            gap: self.gap(),
        };
        let entry = match is_shared {
            true => Self::decoded(key, self.revision, &stored.into_shared(), read),
            false => Self::loaded(key, self.revision, stored, self.expires, read, false),
        };
        entry.is_readable().then_some(entry)
    }

    /// The final state of the key, which the write `revision` deletes.
    pub(crate) fn deleted_at(&self, revision: Revision) -> Self {
        let encoded = restamped(&self.bytes(), self.gap(), self.revision, revision);
        let form = match self.is_readable() {
            true => StoredForm::Current,
            false => StoredForm::Unreadable,
        };
        Self::new(self.keyed_row.clone(), revision, encoded, 0).in_form(form)
    }

    /// The same entry, whose bytes the backend has in the form `form`.
    pub(crate) fn in_form(self, form: StoredForm) -> Self {
        let form = AtomicU8::new(form as u8);
        Self { form, ..self }
    }

    /// Records that a write would store the entry in another way, e.g. with a newer key.
    pub(crate) fn mark_stale(&self) {
        let (current, earlier) = (StoredForm::Current as u8, StoredForm::Earlier as u8);
        // Any other form is rewritten, too, or cannot be.
        let _ = self
            .form
            .compare_exchange(current, earlier, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Returns the entry of an object that is not stored: for lists of objects that are computed on request.
    #[must_use]
    pub fn unstored(key: &str, bytes: Bytes, row: RowRef<'_>) -> Self {
        let bytes = bytes.into();
        Self::new(KeyedRow::new(key, row), Revision(0), Encoded { bytes, gap: None }, 0)
    }

    /// The same state of the key in the form that `indexer` makes of the stored bytes; `None` if that is the same. If `indexer` can
    /// read these, the entry matches `epoch` afterwards.
    pub(crate) fn reindexed(&self, indexer: &dyn Indexer, epoch: SchemaEpoch) -> Option<Self> {
        if self.is_encrypted() {
            return None;
        }
        let (visible, stored, stored_gap) = (self.bytes(), self.stored_bytes(), self.stored_gap());
        let draft = indexer.reindexed(&stored);
        let reached = draft.as_ref().map_or(0, |_| epoch.0);
        let filled = draft.map(|draft| draft.fill(self.revision));
        let (bytes, gap) = match &filled {
            Some(encoded) => (&*encoded.bytes, encoded.gap),
            None => (&*stored, stored_gap),
        };
        let row = indexer.row(self.key(), bytes);
        if *bytes == *visible && gap == self.gap() && row.view() == self.row() {
            self.schema_epoch.store(reached, Ordering::Relaxed);
            return None;
        }
        let stored = Encoded {
            bytes: stored.into_owned(),
            gap: stored_gap,
        };
        let form = self.backend_form();
        let keyed_row = KeyedRow::new(self.key(), row.view());
        let new = |encoded| Self::new(keyed_row, self.revision, encoded, self.expires).in_form(form);
        let new = match filled {
            Some(encoded) if !indexer.is_same(&stored.bytes, &encoded.bytes) => new(encoded).adapted_from(&stored),
            Some(encoded) => new(encoded),
            None => new(stored),
        };
        new.schema_epoch.store(reached, Ordering::Relaxed);
        Some(new)
    }

    /// True if the bytes are known to match the kind's definition at `epoch`. Later writes are not known to, nor are
    /// states that were history then.
    #[must_use]
    pub fn matches_schema(&self, epoch: SchemaEpoch) -> bool {
        self.schema_epoch.load(Ordering::Relaxed) == epoch.0
    }

    /// The bytes of the backend, compared with those of the entry.
    #[must_use]
    pub fn stored_form(&self) -> StoredForm {
        self.backend_form().if_stale(self.is_adapted)
    }

    /// The same without regard to what the definition of the kind makes of the bytes.
    pub(crate) fn backend_form(&self) -> StoredForm {
        StoredForm::of_code(self.form.load(Ordering::Acquire))
    }

    /// True if the bytes encode an object of the kind.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.stored_form() != StoredForm::Unreadable
    }

    /// The full key, with the prefix of its collection.
    #[must_use]
    pub fn key(&self) -> &str {
        self.keyed_row.key()
    }

    /// The key, to be held for longer than the entry.
    pub(crate) fn keyed_row(&self) -> &KeyedRow {
        &self.keyed_row
    }

    /// The revision of the write that led to this state.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The canonical encoding with `revision` in the place of the entry's own: the final form of an object that a later
    /// write deleted.
    #[must_use]
    pub fn bytes_at(&self, revision: Revision) -> Bytes {
        restamped(&self.bytes(), self.gap(), self.revision, revision).into_shared()
    }

    /// The canonical encoding without the digits of the revision, as a [`Draft`](crate::Draft) has it.
    pub(crate) fn bytes_without_revision(&self) -> Cow<'_, [u8]> {
        let bytes = self.bytes();
        match self.gap() {
            Some(gap) if !is_encrypted(&bytes) => Cow::Owned(without_digits(&bytes, gap, self.revision)),
            Some(_) | None => bytes,
        }
    }

    /// The value that `values` stores for the entry; `None` if that is its stored bytes.
    pub(crate) fn sealed_by(&self, values: &Values, reason: Reason) -> Result<Option<Bytes>, TransformError> {
        match values.has_transformer() {
            true => values.seal(self.key(), &self.stored_without_revision(), reason),
            false => Ok(None),
        }
    }

    /// The labels and fields that selectors read.
    #[must_use]
    pub fn row(&self) -> RowRef<'_> {
        self.keyed_row.row()
    }

    /// The time at which the store deletes the entry by itself, in milliseconds since 1970; `None` means never.
    #[must_use]
    pub fn expires(&self) -> Option<u64> {
        (self.expires != 0).then_some(self.expires)
    }

    /// The encoding `id` of this state: computed by `make` on first use and cached while it is used.
    ///
    /// All encodings in a `cache` share a fixed number of bytes; unused ones are dropped and computed again when needed.
    /// Concurrent callers may each compute it.
    ///
    /// # Errors
    ///
    /// Errors of `make`, which is called again next time.
    pub fn encoding<E>(
        self: &Arc<Self>,
        cache: &EncodingCache,
        id: EncodingId,
        make: impl FnOnce(&Self) -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        self.encoding_within(&cache.common, id, make)
    }

    /// Like [`Entry::encoding`], for an encoding of a few hundred bytes that is needed whenever all entries are read, such
    /// as the row of a table. These have a budget of their own, so that they do not evict other encodings.
    ///
    /// # Errors
    ///
    /// Errors of `make`, which is called again next time.
    pub fn small_encoding<E>(
        self: &Arc<Self>,
        cache: &EncodingCache,
        id: EncodingId,
        make: impl FnOnce(&Self) -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        self.encoding_within(&cache.small, id, make)
    }

    fn encoding_within<E>(
        self: &Arc<Self>,
        budget: &Budget,
        id: EncodingId,
        make: impl FnOnce(&Self) -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let holder = || -> Weak<dyn Holder> { Arc::downgrade(self) as Weak<Self> };
        self.encodings.get(holder, id, budget, || make(self))
    }

    /// The encoding `id`, if it is cached.
    #[must_use]
    pub fn cached_encoding(&self, id: EncodingId) -> Option<Bytes> {
        self.encodings.cached(id)
    }

    /// The length of an encoding that [`Entry::set_encoded_length`] has set; `None` before that. It outlives the
    /// encoding itself.
    #[must_use]
    pub fn encoded_length(&self) -> Option<u32> {
        Some(self.encoded_length.load(Ordering::Relaxed)).filter(|length| *length > 0)
    }

    /// Sets the length of an encoding. All readers of a collection use it for the same encoding.
    pub fn set_encoded_length(&self, length: u32) {
        self.encoded_length.store(length, Ordering::Relaxed);
    }

    /// Offset of the revision's digits in the bytes; `None` if these do not contain it.
    pub(crate) fn gap(&self) -> Option<u32> {
        Some(self.gap).filter(|gap| *gap != NO_GAP)
    }

    pub(crate) fn expires_millis(&self) -> u64 {
        self.expires
    }

    /// Bytes of memory, bookkeeping included.
    pub(crate) fn heap_size(&self) -> usize {
        size_of::<Self>() + self.keyed_row.len() + self.bytes.len() + 64
    }
}

/// `bytes` without the digits of `revision` at `gap`.
fn without_digits(bytes: &[u8], gap: u32, revision: Revision) -> Vec<u8> {
    let (head, tail) = bytes.split_at(gap as usize);
    [head, &tail[revision.digits()..]].concat()
}

impl Holder for Entry {
    fn encodings(&self) -> &Encodings {
        &self.encodings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_entries_with_their_counters_fit_112_megabytes() {
        // The allocator rounds 113 bytes up to 128.
        assert!(size_of::<Entry>() + 2 * size_of::<usize>() <= 112);
    }

    #[test]
    fn bytes_for_a_client_outlive_the_cache() {
        let entry = Arc::new(Entry::unstored("/a", Bytes::from_static(b"{}"), RowRef::default()));
        let (bytes, left) = (entry.to_bytes(), Arc::downgrade(&entry));
        drop(entry);
        assert_eq!(&bytes[..], b"{}");
        drop(bytes);
        assert!(left.upgrade().is_none());
    }

    #[test]
    fn states_share_their_key_and_an_equal_row() {
        let write = |word: &str, label, previous| {
            let (draft, row) = (Draft::gapless(word.into()), Row::new([("app", label)], []));
            Entry::written("/a", (draft, &row), Revision(1), 0, previous)
        };
        let first = write("one", "shop", None);
        let (same, other) = (write("two", "shop", Some(&first)), write("two", "other", Some(&first)));
        let text = |entry: &Entry| entry.key().as_ptr();
        assert_eq!(text(&same), text(&first));
        assert_ne!(text(&other), text(&first));
        assert_eq!((other.key(), other.row().label("app")), ("/a", Some("other")));
    }
}
