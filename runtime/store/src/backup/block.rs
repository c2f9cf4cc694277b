//! The blocks of a backup, and the objects in them.

use bytes::Bytes;

use crate::Revision;
use crate::log::{Change, Record};

/// The first bytes of every backup.
pub(super) const MAGIC: &[u8; 8] = b"PLNSBKUP";
/// The version of a backup in which all objects are in clear.
pub(super) const PLAIN: u32 = 1;
/// The version of a backup with encrypted objects, which programs from before these refuse.
pub(super) const ENCRYPTED: u32 = 2;
/// Bytes in front of the first block.
pub(super) const FRONT: usize = 16;
/// Bytes in front of the content of a block.
pub(super) const HEADER: usize = 16;
/// Maximum bytes of the content of a block that a reader accepts. One object is the least that a block has.
pub(super) const LIMIT: usize = 256 << 20;
/// Bytes in front of the key of an object.
const OBJECT: usize = 28;
const NO_GAP: u32 = u32::MAX;

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Objects,
    End,
}

impl Kind {
    pub(super) fn code(self) -> u32 {
        match self {
            Self::Header => 1,
            Self::Objects => 2,
            Self::End => 3,
        }
    }
}

/// The checksum of a block: of its header without the checksum, and of its content.
pub(super) fn checksum(header: &[u8], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(content);
    hasher.finalize()
}

/// Appends a block to `out`.
pub(super) fn append(kind: Kind, number: u32, content: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let length = u32::try_from(content.len()).expect("blocks are smaller than the limit");
    for word in [kind.code(), number, length] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    let sum = checksum(&out[start..], content);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(content);
}

/// Appends an object to the content of a block.
pub(super) fn append_object(record: &Record, out: &mut Vec<u8>) {
    let expires = match record.change {
        Change::Put { expires } => expires,
        Change::Delete => 0,
    };
    let length = |bytes: usize| u32::try_from(bytes).expect("stores refuse writes of gigabytes");
    out.extend_from_slice(&record.revision.0.to_le_bytes());
    out.extend_from_slice(&expires.to_le_bytes());
    out.extend_from_slice(&record.gap.unwrap_or(NO_GAP).to_le_bytes());
    out.extend_from_slice(&length(record.key.len()).to_le_bytes());
    out.extend_from_slice(&length(record.bytes.len()).to_le_bytes());
    out.extend_from_slice(record.key.as_bytes());
    out.extend_from_slice(&record.bytes);
}

/// Takes an object off the front of `content`; `None` if there is no whole and valid one.
pub(super) fn take_object(content: &mut Bytes) -> Option<Record> {
    let front = content.get(..OBJECT)?;
    let word = |at: usize| Some(u32::from_le_bytes(*front.get(at..)?.first_chunk()?));
    let long = |at: usize| Some(u64::from_le_bytes(*front.get(at..)?.first_chunk()?));
    let (revision, expires) = (Revision(long(0)?), long(8)?);
    let (gap, key, object) = (word(16)?, word(20)? as usize, word(24)? as usize);
    let length = OBJECT.checked_add(key)?.checked_add(object)?;
    if content.len() < length {
        return None;
    }
    let mut taken = content.split_to(length);
    let mut rest = taken.split_off(OBJECT);
    let bytes = rest.split_off(key);
    let gap = (gap != NO_GAP).then_some(gap);
    let fits = |gap: u32| (gap as usize).saturating_add(revision.digits()) <= bytes.len();
    gap.is_none_or(fits).then_some(())?;
    Some(Record {
        revision,
        key: std::str::from_utf8(&rest).ok()?.into(),
        change: Change::Put { expires },
        bytes,
        gap,
    })
}
