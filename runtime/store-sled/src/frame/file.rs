//! The header of a journal file.

use planesmith_store::Revision;

use super::Reader;

const MAGIC: &[u8; 8] = b"PLNSMJRN";

/// Size of the longest header, which is the one that is written.
pub(crate) const HEADER: usize = 64;
const HEADER_1: usize = 32;

/// The newest version of a journal file, which is the written one.
pub(crate) const VERSION: u32 = 2;

/// The layout of a journal file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHeader {
    pub(crate) version: Version,
    pub(crate) number: u64,
    pub(crate) salt: u64,
    /// The previous file; all zeros in a file of version 1, which does not have it.
    pub(crate) follows: Follows,
}

/// The position at which a file continues the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Follows {
    /// Number of the previous file; 0: none.
    pub(crate) file: u64,
    /// End of the valid bytes of the previous file; its frames end there.
    pub(crate) end: u64,
    /// Last revision in the previous file, or before it.
    pub(crate) last: Revision,
    /// The revision after which this file starts. More than `last` if damaged writes were given up.
    pub(crate) start: Revision,
}

/// The reason a file header cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadHeader {
    /// Zeros only, or no bytes at all.
    Empty,
    /// The header has another version.
    Version(u32),
    /// Other bytes, or a broken header.
    Damaged,
}

impl FileHeader {
    /// Returns the header of a new file.
    pub(crate) fn new(number: u64, salt: u64, follows: Follows) -> Self {
        let version = Version::Two;
        Self {
            version,
            number,
            salt,
            follows,
        }
    }

    /// Bytes in front of the first frame.
    pub(crate) fn length(self) -> usize {
        match self.version {
            Version::One => HEADER_1,
            Version::Two => HEADER,
        }
    }

    pub(crate) fn encode(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        let Follows { file, end, last, start } = self.follows;
        let numbers = [self.number, self.salt, file, end, last.0, start.0];
        for (place, number) in bytes[16..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let checksum = checksum(&bytes);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(file: &[u8]) -> Result<Self, BadHeader> {
        if file.iter().take(HEADER).all(|byte| *byte == 0) {
            return Err(BadHeader::Empty);
        }
        let mut reader = Reader { rest: file };
        if reader.take(8) != Some(MAGIC) {
            return Err(BadHeader::Damaged);
        }
        let version = match reader.u32().ok_or(BadHeader::Damaged)? {
            1 => Version::One,
            VERSION => Version::Two,
            // A flipped bit is not another version.
            other if is_intact(file, HEADER) || is_intact(file, HEADER_1) => return Err(BadHeader::Version(other)),
            _ => return Err(BadHeader::Damaged),
        };
        Self::decode_as(file, version).ok_or(BadHeader::Damaged)
    }

    fn decode_as(file: &[u8], version: Version) -> Option<Self> {
        let mut header = Self {
            version,
            number: 0,
            salt: 0,
            follows: Follows::default(),
        };
        if !is_intact(file, header.length()) {
            return None;
        }
        let mut reader = Reader { rest: file.get(16..)? };
        header.number = reader.u64()?;
        header.salt = reader.u64()?;
        if version == Version::Two {
            header.follows = Follows {
                file: reader.u64()?,
                end: reader.u64()?,
                last: Revision(reader.u64()?),
                start: Revision(reader.u64()?),
            };
        }
        Some(header)
    }
}

/// True if the first `length` bytes of `file` match the checksum in them.
fn is_intact(file: &[u8], length: usize) -> bool {
    let header = file.get(..length);
    header.is_some_and(|header| checksum(header).to_le_bytes() == header[12..16])
}

/// The checksum of all bytes but its own.
fn checksum(header: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..12]);
    hasher.update(&header[16..]);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_header_is_read_back_and_every_change_is_seen() {
        let follows = Follows {
            file: 2,
            end: 4096,
            last: Revision(7),
            start: Revision(9),
        };
        let header = FileHeader::new(3, 4, follows);
        let bytes = header.encode();
        assert_eq!(FileHeader::decode(&bytes), Ok(header));
        assert_eq!(FileHeader::decode(&[]), Err(BadHeader::Empty));
        assert_eq!(FileHeader::decode(&[0; 100]), Err(BadHeader::Empty));
        assert_eq!(FileHeader::decode(&bytes[..40]), Err(BadHeader::Damaged));
        for bit in 0..HEADER * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(FileHeader::decode(&flipped), Err(BadHeader::Damaged), "bit {bit}");
        }
        let mut newer = bytes;
        newer[8] = 3;
        let sum = checksum(&newer);
        newer[12..16].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(FileHeader::decode(&newer), Err(BadHeader::Version(3)));
    }
}
