//! Writing a backup.

use ring::digest::{Context, SHA256};

use super::BackupHeader;
use super::block::{self, FRONT, Kind, MAGIC};
use crate::log::Record;
use crate::transformer::is_encrypted;

/// Bytes of objects after which a block is complete.
const BLOCK: usize = 256 << 10;

/// Encodes a backup piece by piece: the header, the objects in the order of their revisions, and the end.
///
/// A backup without its end is torn, and no reader accepts it.
pub struct BackupEncoder {
    /// The encoded bytes that were not taken yet.
    out: Vec<u8>,
    /// Bytes of `out` that the digest includes.
    digested: usize,
    /// The content of the current block.
    objects: Vec<u8>,
    number: u32,
    has_encrypted: bool,
    count: u64,
    bytes: u64,
    digest: Context,
}

impl BackupEncoder {
    /// Begins a backup with `header`.
    #[must_use]
    pub fn new(header: &BackupHeader) -> Self {
        let mut out = Vec::with_capacity(FRONT + BLOCK);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&header.version().to_le_bytes());
        out.extend_from_slice(&0_u32.to_le_bytes());
        let mut encoder = Self {
            out,
            digested: 0,
            objects: Vec::new(),
            number: 0,
            has_encrypted: header.has_encrypted,
            count: 0,
            bytes: 0,
            digest: Context::new(&SHA256),
        };
        encoder.append(Kind::Header, header.encode().as_bytes());
        encoder
    }

    /// Adds the next object.
    pub fn push(&mut self, record: &Record) {
        debug_assert!(self.has_encrypted || !is_encrypted(&record.bytes));
        self.count += 1;
        self.bytes += record.size();
        block::append_object(record, &mut self.objects);
        if self.objects.len() >= BLOCK {
            self.complete_block();
        }
    }

    /// Bytes that are encoded and were not taken yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.out.len()
    }

    /// Takes the bytes that are encoded so far.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        self.digest.update(&self.out[self.digested..]);
        self.digested = 0;
        std::mem::take(&mut self.out)
    }

    /// Ends the backup, and takes the rest of its bytes.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if !self.objects.is_empty() {
            self.complete_block();
        }
        self.digest.update(&self.out[self.digested..]);
        self.digested = self.out.len();
        let mut content = self.count.to_le_bytes().to_vec();
        content.extend_from_slice(&self.bytes.to_le_bytes());
        content.extend_from_slice(self.digest.clone().finish().as_ref());
        self.append(Kind::End, &content);
        self.out
    }

    fn complete_block(&mut self) {
        let mut objects = std::mem::take(&mut self.objects);
        self.append(Kind::Objects, &objects);
        objects.clear();
        self.objects = objects;
    }

    fn append(&mut self, kind: Kind, content: &[u8]) {
        block::append(kind, self.number, content, &mut self.out);
        self.number = self.number.wrapping_add(1);
    }
}

impl std::fmt::Debug for BackupEncoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("BackupEncoder")
            .field("objects", &self.count)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
