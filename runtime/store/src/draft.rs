//! Encoded bytes that wait for their revision.

use std::io::Write;

use bytes::Bytes;

use crate::Revision;
use crate::transformer::is_encrypted;

/// An encoded object whose revision is not known yet.
///
/// The revision is part of the canonical encoding, but only the committer knows it. A draft is everything else, with
/// the offset (the gap) at which the digits are inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    bytes: Vec<u8>,
    gap: Option<u32>,
}

impl Draft {
    /// Returns a draft of `bytes`, into which the digits of the revision are inserted at the offset `gap`.
    ///
    /// # Panics
    ///
    /// `gap` is beyond the end of `bytes`, although the encoder computed it from the same buffer.
    #[must_use]
    pub fn new(bytes: Vec<u8>, gap: usize) -> Self {
        assert!(
            gap <= bytes.len(),
            "the gap {gap} is behind the draft's {} bytes",
            bytes.len()
        );
        Self {
            bytes,
            gap: u32::try_from(gap).ok(),
        }
    }

    /// Returns a draft of bytes that do not contain their revision.
    #[must_use]
    pub fn gapless(bytes: Vec<u8>) -> Self {
        Self { bytes, gap: None }
    }

    /// The length in bytes, without the digits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True if there are no bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes, without the digits.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Offset of the digits in the bytes; `None` when these do not contain the revision.
    #[must_use]
    pub fn gap(&self) -> Option<usize> {
        self.gap.map(|gap| gap as usize)
    }

    /// The final bytes of the write that was assigned `revision`.
    pub(crate) fn fill(self, revision: Revision) -> Encoded {
        let Some(gap) = self.gap else {
            return Encoded {
                bytes: self.bytes,
                gap: None,
            };
        };
        let (head, tail) = self.bytes.split_at(gap as usize);
        Encoded {
            bytes: splice(head, revision, tail),
            gap: Some(gap),
        }
    }
}

/// Encoded bytes with their revision inside, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// Offset of the revision's digits; `None` when the bytes do not contain it. For an encrypted value that of the plain bytes.
    pub(crate) gap: Option<u32>,
}

impl Encoded {
    /// The bytes, in memory of exactly their size.
    pub(crate) fn into_shared(self) -> Bytes {
        self.bytes.into_boxed_slice().into()
    }
}

/// `bytes`, which have digits at `gap` if any, with the digits of `old` replaced by those of `new`. An encrypted value has no digits.
pub(crate) fn restamped(bytes: &[u8], gap: Option<u32>, old: Revision, new: Revision) -> Encoded {
    let bytes = match gap.filter(|_| !is_encrypted(bytes)) {
        Some(start) => {
            let (head, tail) = bytes.split_at(start as usize);
            splice(head, new, &tail[old.digits()..])
        }
        None => bytes.to_vec(),
    };
    Encoded { bytes, gap }
}

/// One allocation of exactly the right size, so that a cached entry has no slack.
pub(crate) fn splice(head: &[u8], revision: Revision, tail: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(head.len() + revision.digits() + tail.len());
    bytes.extend_from_slice(head);
    write!(bytes, "{revision}").expect("writing to a vector succeeds");
    bytes.extend_from_slice(tail);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{Draft, restamped};
    use crate::Revision;

    #[test]
    fn the_gap_receives_the_digits() {
        let filled = Draft::new(br#"{"v":""}"#.to_vec(), 6).fill(Revision(812));
        assert_eq!(&filled.bytes[..], br#"{"v":"812"}"#);
    }

    #[test]
    fn restamping_exchanges_digits_of_another_length() {
        let filled = Draft::new(br#"{"v":""}"#.to_vec(), 6).fill(Revision(9));
        let restamped = restamped(&filled.bytes, filled.gap, Revision(9), Revision(1000));
        assert_eq!(&restamped.bytes[..], br#"{"v":"1000"}"#);
    }

    #[test]
    fn gapless_bytes_stay_as_they_are() {
        let filled = Draft::gapless(b"abc".to_vec()).fill(Revision(7));
        assert_eq!(&filled.bytes[..], b"abc");
        assert_eq!(restamped(&filled.bytes, filled.gap, Revision(7), Revision(8)), filled);
    }
}
