//! The stored bytes of an entry whose kind's definition makes other bytes of them.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::{Entry, NO_GAP, without_digits};
use crate::draft::{Encoded, restamped};
use crate::{Draft, Revision};

/// Size of a number behind the bytes of an adapted entry.
const NUMBER: usize = size_of::<u32>();

impl Entry {
    /// The same entry, whose bytes the definition of the kind makes of the `stored` ones. Both are in one allocation, so that other
    /// entries need no place for a second one.
    pub(super) fn adapted_from(self, stored: &Encoded) -> Self {
        let Ok(length) = u32::try_from(self.bytes.len()) else {
            return self;
        };
        let gap = stored.gap.unwrap_or(NO_GAP);
        let parts: [&[u8]; 4] = [&self.bytes, &stored.bytes, &gap.to_le_bytes(), &length.to_le_bytes()];
        debug_assert!(self.dictionary.is_none(), "entries are compressed at last");
        Self {
            bytes: parts.concat().into(),
            is_adapted: true,
            ..self
        }
    }

    /// The entry of a write of the bytes that are stored already, of which the definition of the kind makes the same as before; `None`
    /// for other bytes, and if the definition makes nothing of them.
    pub(super) fn stored_again(&self, draft: &Draft, revision: Revision, expires: u64) -> Option<Self> {
        let is_same = self.is_adapted && *self.stored_without_revision() == *draft.bytes();
        is_same.then(|| {
            let visible = restamped(&self.bytes(), self.gap(), self.revision, revision);
            let stored = draft.clone().fill(revision);
            let new = Self::new(self.keyed_row.clone(), revision, visible, expires).adapted_from(&stored);
            let epoch = self.schema_epoch.load(Ordering::Relaxed);
            new.schema_epoch.store(epoch, Ordering::Relaxed);
            new
        })
    }

    /// The number at the end of `bytes`, and the bytes before it.
    fn split_number(bytes: &[u8]) -> (&[u8], u32) {
        let (rest, number) = bytes
            .split_last_chunk::<NUMBER>()
            .expect("an adapted entry ends with two numbers");
        (rest, u32::from_le_bytes(*number))
    }

    /// The bytes for readers, the stored ones, and the offset of the revision in the stored ones, of an entry that is not compressed.
    pub(super) fn uncompressed(&self) -> (&[u8], &[u8], Option<u32>) {
        if !self.is_adapted {
            return (&self.bytes, &self.bytes, self.gap());
        }
        let (rest, length) = Self::split_number(&self.bytes);
        let (rest, gap) = Self::split_number(rest);
        let (bytes, stored) = rest.split_at(length as usize);
        (bytes, stored, Some(gap).filter(|gap| *gap != NO_GAP))
    }

    /// The object as the backend stores it, in the canonical encoding: the same as [`Entry::bytes`], unless the definition of the
    /// kind makes other bytes of it. An object is read from these, so that it follows from the present definition alone.
    #[must_use]
    pub fn stored_bytes(&self) -> Cow<'_, [u8]> {
        match self.is_adapted {
            false => self.bytes(),
            true => Cow::Borrowed(self.uncompressed().1),
        }
    }

    /// The length of the stored bytes.
    #[must_use]
    pub fn stored_size(&self) -> usize {
        match self.is_adapted {
            false => self.size(),
            true => self.uncompressed().1.len(),
        }
    }

    /// The stored bytes with `revision` in the place of the entry's own.
    #[must_use]
    pub fn stored_bytes_at(&self, revision: Revision) -> Bytes {
        restamped(&self.stored_bytes(), self.stored_gap(), self.revision, revision).into_shared()
    }

    /// The stored bytes for longer than the borrow.
    #[must_use]
    pub fn to_stored_bytes(self: &Arc<Self>) -> Bytes {
        match self.is_adapted {
            false => self.to_bytes(),
            true => Bytes::copy_from_slice(self.uncompressed().1),
        }
    }

    /// Offset of the revision's digits in the stored bytes; `None` if these do not contain it.
    pub(crate) fn stored_gap(&self) -> Option<u32> {
        match self.is_adapted {
            false => self.gap(),
            true => self.uncompressed().2,
        }
    }

    /// The stored bytes without the digits of the revision.
    pub(crate) fn stored_without_revision(&self) -> Cow<'_, [u8]> {
        if !self.is_adapted {
            return self.bytes_without_revision();
        }
        match self.uncompressed() {
            (_, stored, Some(gap)) => Cow::Owned(without_digits(stored, gap, self.revision)),
            (_, stored, None) => Cow::Borrowed(stored),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::SchemaEpoch;
    use crate::{Indexer, Row, StoredForm};

    /// Makes capitals of words, or leaves them as they are.
    struct Capitals(bool);

    impl Indexer for Capitals {
        fn row(&self, _: &str, bytes: &[u8]) -> Row {
            Row::new([], [std::str::from_utf8(bytes).expect("text")])
        }

        fn reindexed(&self, bytes: &[u8]) -> Option<Draft> {
            self.0.then(|| {
                let text = std::str::from_utf8(bytes).expect("text");
                let (word, _) = text.split_once(' ').expect("a word before the revision");
                let gap = word.len() + 1;
                Draft::new(format!("{} ", word.to_uppercase()).into_bytes(), gap)
            })
        }
    }

    #[test]
    fn an_adapted_entry_keeps_the_stored_bytes_and_returns_to_them() {
        let draft = Draft::new(b"word ".to_vec(), 5);
        let stored = Entry::written("/a", (draft, &Row::default()), Revision(7), 0, None);
        let reindexed = |entry: &Entry, is_loud| entry.reindexed(&Capitals(is_loud), SchemaEpoch::next());

        let loud = reindexed(&stored, true).expect("other bytes");
        assert_eq!(
            (&*loud.bytes(), &*loud.stored_bytes()),
            (&b"WORD 7"[..], &b"word 7"[..])
        );
        assert_eq!(loud.row().field(0), Some("WORD 7"));
        assert_eq!(loud.stored_form(), StoredForm::Earlier, "a write stores other bytes");
        assert_eq!(loud.bytes_at(Revision(10)), "WORD 10");
        assert_eq!(loud.stored_bytes_at(Revision(10)), "word 10");
        assert_eq!(&*loud.stored_without_revision(), b"word ");
        assert!(reindexed(&loud, true).is_none(), "the same bytes");

        let draft = Draft::new(b"word ".to_vec(), 5);
        let again = Entry::written("/a", (draft, &Row::default()), Revision(11), 0, Some(&loud));
        assert_eq!(
            (&*again.bytes(), &*again.stored_bytes()),
            (&b"WORD 11"[..], &b"word 11"[..])
        );
        assert_eq!(again.row().field(0), Some("WORD 7"), "the row of the same object");

        let quiet = reindexed(&loud, false).expect("other bytes");
        assert_eq!(
            (&*quiet.bytes(), &*quiet.stored_bytes()),
            (&b"word 7"[..], &b"word 7"[..])
        );
        assert_eq!(quiet.stored_form(), StoredForm::Current);
        assert_eq!(quiet.bytes.len(), "word 7".len(), "equal bytes are kept once");
    }
}
