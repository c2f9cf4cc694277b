//! The bytes of an entry, which may be compressed.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use super::Entry;
use crate::compression::{Compressor, Dictionary, ThreadCompressor};
use crate::transformer::ENCRYPTED;

/// Keeps the entry of the bytes that a client receives, which are not compressed.
struct SharedBytes(Arc<Entry>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.uncompressed().0
    }
}

impl Entry {
    /// Compresses the bytes, if that saves enough. Returns them as they were.
    pub(crate) fn compress(&mut self, compressor: &Compressor) -> Option<Bytes> {
        self.compress_by(|bytes| compressor.compress(bytes))
    }

    /// The same entry, compressed if that saves enough.
    pub(crate) fn compressed(mut self, compressor: &Compressor) -> Self {
        self.compress(compressor);
        self
    }

    /// The same entry, compressed as one of many if that saves enough.
    pub(crate) fn compressed_in(mut self, compressor: &mut ThreadCompressor<'_>) -> Self {
        self.compress_by(|bytes| compressor.compress(bytes));
        self
    }

    fn compress_by(&mut self, compress: impl FnOnce(&[u8]) -> Option<(Arc<Dictionary>, Box<[u8]>)>) -> Option<Bytes> {
        if self.is_adapted || self.dictionary.is_some() {
            return None;
        }
        let (dictionary, compressed) = compress(&self.bytes)?;
        self.expanded = u32::try_from(self.bytes.len()).ok()?;
        self.dictionary = Some(dictionary);
        Some(std::mem::replace(&mut self.bytes, compressed).into())
    }

    /// The canonical encoding, revision inside. Compressed entries copy it, which takes a fraction of a microsecond.
    #[must_use]
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.dictionary {
            None => Cow::Borrowed(self.uncompressed().0),
            Some(_) => Cow::Owned(self.expanded()),
        }
    }

    /// The length of the canonical encoding in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match &self.dictionary {
            None => self.uncompressed().0.len(),
            Some(_) => self.expanded as usize,
        }
    }

    /// Appends the canonical encoding without the first `skip` bytes to `out`.
    pub fn push_bytes(&self, skip: usize, out: &mut Vec<u8>) {
        match &self.dictionary {
            None => out.extend_from_slice(self.uncompressed().0.get(skip..).unwrap_or_default()),
            Some(dictionary) => dictionary.expand(&self.bytes, self.size(), skip, out),
        }
    }

    /// True if the canonical encoding begins with `prefix`.
    #[must_use]
    pub fn starts_with(&self, prefix: &[u8]) -> bool {
        match &self.dictionary {
            None => self.uncompressed().0.starts_with(prefix),
            Some(dictionary) => dictionary.starts_with(&self.bytes, prefix),
        }
    }

    /// True if the value of the backend could not be decrypted: the bytes are those.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.starts_with(ENCRYPTED)
    }

    /// Reads a little of each of these entries, which are needed next: the processor waits for the memory of all of them at once, and
    /// not for one after the other.
    pub fn prefetch(entries: &[Arc<Self>]) {
        let line_of = |entry: &Self, line: usize| entry.bytes.get(64 * line).copied().unwrap_or_default();
        let read = entries
            .iter()
            .map(|entry| line_of(entry, 0) ^ line_of(entry, 1) ^ line_of(entry, 2));
        std::hint::black_box(read.fold(0, |all, byte| all ^ byte));
    }

    fn expanded(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size());
        self.push_bytes(0, &mut bytes);
        bytes
    }

    /// The same bytes for longer than the borrow: they keep the entry in memory, unless it is compressed.
    #[must_use]
    pub fn to_bytes(self: &Arc<Self>) -> Bytes {
        match &self.dictionary {
            None => Bytes::from_owner(SharedBytes(Arc::clone(self))),
            Some(_) => self.expanded().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draft, Revision, Row};

    /// An object that resembles all others, with a gap for its revision.
    fn draft(number: usize) -> Draft {
        let head = format!(r#"{{"kind":"Thing","metadata":{{"name":"thing-{number}","resourceVersion":""#);
        let tail = format!(
            r#"","namespace":"default"}},"text":"{}"}}"#,
            "abcdefghijklmnop".repeat(20)
        );
        let gap = head.len();
        Draft::new((head + &tail).into(), gap)
    }

    fn entry(number: usize) -> Entry {
        let revision = Revision(number as u64 + 1);
        Entry::written("/a", (draft(number), &Row::default()), revision, 0, None)
    }

    fn compressor() -> Compressor {
        let compressor = Compressor::default();
        for number in 0..40 {
            entry(number).compress(&compressor);
        }
        compressor
    }

    #[test]
    fn a_compressed_entry_reads_as_one_that_is_not() {
        let compressor = compressor();
        let (plain, mut compressed) = (Arc::new(entry(7777)), entry(7777));
        let before = compressed.compress(&compressor).expect("it resembles the others");
        assert_eq!(&before[..], &*plain.bytes(), "the bytes before are returned");
        assert!(compressed.compress(&compressor).is_none(), "once is enough");
        assert!(compressed.bytes.len() < 40 && compressed.heap_size() + 300 < plain.heap_size());

        let compressed = Arc::new(compressed);
        let both = [&plain, &compressed];
        assert_eq!(both.map(|entry| entry.bytes().into_owned())[1], *plain.bytes());
        assert_eq!(both.map(|entry| entry.to_bytes())[1], *plain.bytes());
        assert_eq!(both.map(|entry| entry.size())[1], plain.bytes().len());
        assert_eq!(both.map(|entry| entry.stored_size())[1], plain.bytes().len());
        assert_eq!(compressed.stored_bytes(), plain.stored_bytes());
        assert_eq!(compressed.to_stored_bytes(), plain.to_stored_bytes());
        assert_eq!(
            compressed.bytes_at(Revision(1_000_000)),
            plain.bytes_at(Revision(1_000_000))
        );
        assert_eq!(compressed.bytes_without_revision(), draft(7777).bytes());
        assert_eq!(compressed.stored_without_revision(), draft(7777).bytes());
        assert_eq!((compressed.gap(), compressed.stored_gap()), (plain.gap(), plain.gap()));
        for (prefix, expected) in [
            (&b"{\"kind\":\"Thing\""[..], true),
            (b"{\"kind\":\"Other\"", false),
            (ENCRYPTED, false),
        ] {
            assert_eq!(both.map(|entry| entry.starts_with(prefix)), [expected; 2]);
        }
        for skip in [0, 10, plain.size(), plain.size() + 1] {
            let mut out = [b"head".to_vec(), b"head".to_vec()];
            both.iter()
                .zip(&mut out)
                .for_each(|(entry, out)| entry.push_bytes(skip, out));
            assert_eq!(out[0], out[1]);
        }
        let deleted = both.map(|entry| entry.deleted_at(Revision(9000)).bytes().into_owned());
        assert_eq!(deleted[0], deleted[1]);
    }

    #[test]
    fn small_objects_stay_as_they_are() {
        let compressor = compressor();
        let draft = Draft::gapless(b"small".to_vec());
        let mut small = Entry::written("/a", (draft, &Row::default()), Revision(1), 0, None);
        assert!(small.compress(&compressor).is_none());
        assert_eq!(&*small.bytes(), b"small");
    }
}
