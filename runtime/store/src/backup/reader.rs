//! Reading a backup, with all its checks.

use std::io::{self, Read};

use bytes::Bytes;
use ring::digest::{Context, SHA256};

use super::BackupHeader;
use super::block::{self, ENCRYPTED, FRONT, HEADER, Kind, LIMIT, MAGIC, PLAIN};
use crate::Revision;
use crate::log::Record;

/// The reason that a backup cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The bytes cannot be read.
    #[error("the backup cannot be read")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error(
        "this is no backup of a store: it does not start with {}",
        String::from_utf8_lossy(MAGIC)
    )]
    NoBackup,
    /// Another version of this program wrote it.
    #[error(
        "the backup has the format {0}, this program knows {PLAIN} to {ENCRYPTED}; restore it with the version that wrote it"
    )]
    UnknownVersion(u32),
    /// The backup has no end: it was cut off, or its writer did not finish.
    #[error(
        "the backup ends at byte {0} without its end mark: it was cut off; take another backup, or use an older one"
    )]
    Torn(u64),
    /// A part of it was changed.
    #[error("the backup is damaged at byte {at}: {what}; use another backup")]
    Damaged {
        /// Start of the damaged block.
        at: u64,
        /// The problem.
        what: &'static str,
    },
}

/// Reads the objects of a backup. They are valid once [`BackupReader::next`] has returned `None`.
pub struct BackupReader<'a> {
    input: Box<dyn Read + 'a>,
    header: BackupHeader,
    /// Bytes that were read.
    at: u64,
    number: u32,
    digest: Context,
    /// The rest of the current block.
    objects: Bytes,
    last: Revision,
    count: u64,
    bytes: u64,
    is_done: bool,
}

impl<'a> BackupReader<'a> {
    /// Reads the start of a backup.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or is no backup of a known version.
    pub fn open(input: impl Read + 'a) -> Result<Self, BackupError> {
        Self::from_reader(Box::new(input))
    }

    fn from_reader(mut input: Box<dyn Read + 'a>) -> Result<Self, BackupError> {
        let mut front = [0; FRONT];
        let read = read_up_to(&mut input, &mut front)?;
        if read < MAGIC.len() || front[..MAGIC.len()] != *MAGIC {
            return Err(BackupError::NoBackup);
        }
        let version = u32::from_le_bytes([front[8], front[9], front[10], front[11]]);
        if read < FRONT {
            return Err(BackupError::Torn(read as u64));
        }
        if !(PLAIN..=ENCRYPTED).contains(&version) {
            return Err(BackupError::UnknownVersion(version));
        }
        let mut digest = Context::new(&SHA256);
        digest.update(&front);
        let mut reader = Self {
            input,
            header: BackupHeader::default(),
            at: FRONT as u64,
            number: 0,
            digest,
            objects: Bytes::new(),
            last: Revision::ZERO,
            count: 0,
            bytes: 0,
            is_done: false,
        };
        let (kind, at, content) = reader.block()?;
        let text = std::str::from_utf8(&content).ok().filter(|_| kind == Kind::Header);
        let header = text.and_then(BackupHeader::decode);
        reader.header = BackupHeader {
            has_encrypted: version == ENCRYPTED,
            ..header.ok_or(damaged(at, "it has no header"))?
        };
        Ok(reader)
    }

    /// The description of the content.
    pub fn header(&self) -> &BackupHeader {
        &self.header
    }

    /// The next object, in the order of the revisions; `None` at the end, once the backup as a whole is verified.
    ///
    /// # Errors
    ///
    /// The input cannot be read, is cut off, or was changed. No object of it counts then.
    #[expect(clippy::should_implement_trait, reason = "a fallible iterator")]
    pub fn next(&mut self) -> Result<Option<Record>, BackupError> {
        while self.objects.is_empty() {
            if self.is_done {
                return Ok(None);
            }
            let before = self.digest.clone();
            match self.block()? {
                (Kind::Objects, _, content) if !content.is_empty() => self.objects = content,
                (Kind::End, at, content) => self.check_end(&before, at, &content)?,
                (Kind::Header | Kind::Objects, at, _) => {
                    return Err(damaged(at, "a block of another kind is expected"));
                }
            }
        }
        let at = self.at;
        let record = block::take_object(&mut self.objects).ok_or(damaged(at, "an object is not whole"))?;
        if record.revision < self.last || record.revision > self.header.revision {
            return Err(damaged(at, "its objects are not in the order of their revisions"));
        }
        self.last = record.revision;
        self.count += 1;
        self.bytes += record.size();
        Ok(Some(record))
    }

    fn check_end(&mut self, digest: &Context, at: u64, content: &[u8]) -> Result<(), BackupError> {
        let mut expected = self.count.to_le_bytes().to_vec();
        expected.extend_from_slice(&self.bytes.to_le_bytes());
        expected.extend_from_slice(digest.clone().finish().as_ref());
        if expected != content {
            return Err(damaged(at, "its end describes another content"));
        }
        if (self.count, self.bytes) != (self.header.objects, self.header.bytes) {
            return Err(damaged(at, "its header describes another content"));
        }
        if read_up_to(&mut self.input, &mut [0])? > 0 {
            return Err(damaged(self.at, "there are bytes behind its end"));
        }
        self.is_done = true;
        Ok(())
    }

    /// Reads and checks a block: its kind, its start, and its content.
    fn block(&mut self) -> Result<(Kind, u64, Bytes), BackupError> {
        let at = self.at;
        let mut header = [0; HEADER];
        self.read(&mut header)?;
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let length = word(8) as usize;
        if length > LIMIT {
            return Err(damaged(at, "a block is too long"));
        }
        let mut content = Vec::new();
        // Read in steps, so that a wrong length does not allocate more than there is.
        while content.len() < length {
            let step = (length - content.len()).min(1 << 20);
            let start = content.len();
            content.resize(start + step, 0);
            self.read(&mut content[start..])?;
        }
        if block::checksum(&header[..12], &content) != word(12) {
            return Err(damaged(at, "the checksum of a block does not match"));
        }
        let kinds = [Kind::Header, Kind::Objects, Kind::End];
        let kind = kinds.into_iter().find(|kind| kind.code() == word(0));
        let kind = kind.ok_or(damaged(at, "a block has an unknown kind"))?;
        if word(4) != self.number {
            return Err(damaged(at, "a block is missing, or in another place"));
        }
        self.number = self.number.wrapping_add(1);
        self.digest.update(&header);
        self.digest.update(&content);
        Ok((kind, at, content.into()))
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), BackupError> {
        let read = read_up_to(&mut self.input, out)?;
        self.at += read as u64;
        if read < out.len() {
            return Err(BackupError::Torn(self.at));
        }
        Ok(())
    }
}

impl std::fmt::Debug for BackupReader<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("BackupReader")
            .field("header", &self.header)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

fn damaged(at: u64, what: &'static str) -> BackupError {
    BackupError::Damaged { at, what }
}

/// Reads until `out` is full or the input ends. Returns the number of bytes.
fn read_up_to(input: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < out.len() {
        match input.read(&mut out[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
