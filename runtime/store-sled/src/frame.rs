//! The bytes of journals and of records: see `FORMAT.md`.

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, Change, Record};

pub(crate) const HEADER: usize = 32;
const FRAME_HEADER: usize = 32;
const WRITE_HEADER: usize = 28;
const MAGIC: &[u8; 8] = b"PLNSMJRN";
const VERSION: u32 = 1;
/// Not valid UTF-8, so that no text looks like a frame.
const FRAME_MAGIC: [u8; 4] = [0xff, 0x50, 0x4c, 0xfe];
const NO_GAP: u32 = u32::MAX;

/// The start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHeader {
    pub(crate) number: u64,
    pub(crate) salt: u64,
}

/// Why a file header cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BadHeader {
    /// The file was being created: it has nothing yet.
    Empty,
    /// Another version wrote it.
    Version(u32),
    /// It is something else, or broken.
    Damaged,
}

impl FileHeader {
    pub(crate) fn encode(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..].copy_from_slice(&self.salt.to_le_bytes());
        let checksum = Self::checksum(&bytes);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(file: &[u8]) -> Result<Self, BadHeader> {
        if file.iter().take(HEADER).all(|byte| *byte == 0) {
            return Err(BadHeader::Empty);
        }
        let header = file.get(..HEADER).ok_or(BadHeader::Damaged)?;
        let mut reader = Reader { rest: header };
        if reader.take(8) != Some(MAGIC) {
            return Err(BadHeader::Damaged);
        }
        match reader.u32() {
            Some(VERSION) => {}
            Some(other) => return Err(BadHeader::Version(other)),
            None => return Err(BadHeader::Damaged),
        }
        let checksum = reader.u32().ok_or(BadHeader::Damaged)?;
        if checksum != Self::checksum(header) {
            return Err(BadHeader::Damaged);
        }
        let number = reader.u64().ok_or(BadHeader::Damaged)?;
        let salt = reader.u64().ok_or(BadHeader::Damaged)?;
        Ok(Self { number, salt })
    }

    fn checksum(header: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&header[..12]);
        hasher.update(&header[16..HEADER]);
        hasher.finalize()
    }
}

/// Appends the frame of `batch` to `out`.
pub(crate) fn encode(batch: &Batch, previous: Revision, salt: u64, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&FRAME_MAGIC);
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&length(batch.records.len()).to_le_bytes());
    out.extend_from_slice(&previous.0.to_le_bytes());
    out.extend_from_slice(&batch.at.to_le_bytes());
    for record in &batch.records {
        encode_record(record, out);
    }
    let body = length(out.len() - start - FRAME_HEADER);
    out[start + 4..start + 8].copy_from_slice(&body.to_le_bytes());
    let checksum = checksum(salt, &out[start..]);
    out[start + 8..start + 12].copy_from_slice(&checksum.to_le_bytes());
}

/// Appends the bytes of one write to `out`.
pub(crate) fn encode_record(record: &Record, out: &mut Vec<u8>) {
    let (code, expires) = match record.change {
        Change::Put { expires } => (1, expires),
        Change::Delete => (2, 0),
    };
    let key_length = u16::try_from(record.key.len()).expect("the engine refuses longer keys");
    out.push(code);
    out.push(0);
    out.extend_from_slice(&key_length.to_le_bytes());
    out.extend_from_slice(&record.gap.unwrap_or(NO_GAP).to_le_bytes());
    out.extend_from_slice(&record.revision.0.to_le_bytes());
    out.extend_from_slice(&expires.to_le_bytes());
    out.extend_from_slice(&length(record.bytes.len()).to_le_bytes());
    out.extend_from_slice(record.key.as_bytes());
    out.extend_from_slice(&record.bytes);
}

fn length(length: usize) -> u32 {
    u32::try_from(length).expect("the engine refuses writes of gigabytes")
}

/// What stands at one place of a journal file.
pub(crate) enum Frame {
    /// A whole frame.
    Whole {
        batch: Batch,
        previous: Revision,
        /// Bytes of the frame.
        length: usize,
    },
    /// Zeros only, to the end of the file.
    End,
    /// Something else; a frame that never became whole, or damage.
    Broken,
}

/// Reads what stands at the start of `rest`. Objects share the memory of `rest`.
pub(crate) fn decode(rest: &Bytes, salt: u64) -> Frame {
    if rest.iter().all(|byte| *byte == 0) {
        return Frame::End;
    }
    let Some(length) = whole(rest, salt) else {
        return Frame::Broken;
    };
    let frame = rest.slice(..length);
    decode_whole(&frame).map_or(Frame::Broken, |(batch, previous)| Frame::Whole {
        batch,
        previous,
        length,
    })
}

/// Whether a whole frame starts anywhere in `rest`.
pub(crate) fn whole_frame_follows(rest: &[u8], salt: u64) -> bool {
    let candidates = rest.windows(FRAME_MAGIC.len()).enumerate();
    candidates
        .filter(|(_, window)| **window == FRAME_MAGIC)
        .any(|(start, _)| whole(&rest[start..], salt).is_some())
}

/// The length of the frame at the start of `rest`, if its checksum matches.
fn whole(rest: &[u8], salt: u64) -> Option<usize> {
    let mut reader = Reader { rest };
    if reader.take(4)? != FRAME_MAGIC {
        return None;
    }
    let length = FRAME_HEADER.checked_add(reader.u32()? as usize)?;
    let expected = reader.u32()?;
    (checksum(salt, rest.get(..length)?) == expected).then_some(length)
}

fn decode_whole(frame: &Bytes) -> Option<(Batch, Revision)> {
    let mut reader = Reader { rest: frame.get(12..)? };
    let count = reader.u32()?;
    let previous = Revision(reader.u64()?);
    let at = reader.u64()?;
    let mut records = Vec::with_capacity(count.min(4096) as usize);
    for _ in 0..count {
        records.push(decode_record(frame, &mut reader)?);
    }
    reader.rest.is_empty().then_some((Batch { at, records }, previous))
}

/// Reads a write that is all of `bytes`.
pub(crate) fn decode_record_alone(bytes: &Bytes) -> Option<Record> {
    let mut reader = Reader { rest: bytes };
    let record = decode_record(bytes, &mut reader)?;
    reader.rest.is_empty().then_some(record)
}

fn decode_record(frame: &Bytes, reader: &mut Reader<'_>) -> Option<Record> {
    let mut header = Reader {
        rest: reader.take(WRITE_HEADER)?,
    };
    let code = header.take(2)?[0];
    let key_length = header.u16()?;
    let gap = header.u32()?;
    let revision = Revision(header.u64()?);
    let expires = header.u64()?;
    let length = header.u32()? as usize;
    let key = std::str::from_utf8(reader.take(usize::from(key_length))?).ok()?;
    let bytes = frame.slice_ref(reader.take(length)?);
    let change = match code {
        1 => Change::Put { expires },
        2 => Change::Delete,
        _ => return None,
    };
    let gap = (gap != NO_GAP).then_some(gap);
    let fits = |gap: u32| {
        (gap as usize)
            .checked_add(revision.digits())
            .is_some_and(|end| end <= length)
    };
    gap.is_none_or(fits).then(|| Record {
        revision,
        key: key.into(),
        change,
        bytes,
        gap,
    })
}

fn checksum(salt: u64, frame: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&salt.to_le_bytes());
    hasher.update(&frame[4..8]);
    hasher.update(&frame[12..]);
    hasher.finalize()
}

/// Takes numbers off the front; `None` when there is too little.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadHeader, FileHeader, Frame, decode, encode, whole_frame_follows};
    use bytes::Bytes;
    use planesmith_store::Revision;
    use planesmith_store::log::{Batch, Change, Record};

    fn batch() -> Batch {
        let record = |revision, change| Record {
            revision: Revision(revision),
            key: "/things/a".into(),
            change,
            bytes: Bytes::from_static(b"{\"v\":\"12\"}"),
            gap: Some(6),
        };
        let records = vec![record(11, Change::Put { expires: 7 }), record(12, Change::Delete)];
        Batch { at: 99, records }
    }

    #[test]
    fn a_frame_is_read_back() {
        let mut bytes = Vec::new();
        encode(&batch(), Revision(10), 5, &mut bytes);
        let length = bytes.len();
        bytes.extend_from_slice(&[0; 100]);
        let bytes = Bytes::from(bytes);
        let Frame::Whole {
            batch: read,
            previous,
            length: read_length,
        } = decode(&bytes, 5)
        else {
            panic!("the frame is whole");
        };
        assert_eq!((read, previous, read_length), (batch(), Revision(10), length));
        assert!(matches!(decode(&bytes.slice(length..), 5), Frame::End));
        assert!(matches!(decode(&bytes, 6), Frame::Broken), "the salt counts");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_breaks_a_frame() {
        let mut bytes = Vec::new();
        encode(&batch(), Revision(10), 5, &mut bytes);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(decode(&Bytes::from(flipped), 5), Frame::Broken), "bit {bit}");
        }
        for end in 1..bytes.len() {
            assert!(matches!(decode(&Bytes::from(bytes[..end].to_vec()), 5), Frame::Broken));
        }
    }

    #[test]
    fn a_whole_frame_behind_a_broken_one_is_found() {
        let mut bytes = b"broken".to_vec();
        encode(&batch(), Revision(10), 5, &mut bytes);
        assert!(whole_frame_follows(&bytes, 5));
        assert!(!whole_frame_follows(&bytes[..bytes.len() - 1], 5));
    }

    #[test]
    fn a_file_header_is_read_back_or_told_apart() {
        let header = FileHeader { number: 3, salt: 4 };
        let bytes = header.encode();
        assert_eq!(FileHeader::decode(&bytes), Ok(header));
        assert_eq!(FileHeader::decode(&[]), Err(BadHeader::Empty));
        assert_eq!(FileHeader::decode(&[0; 64]), Err(BadHeader::Empty));
        assert_eq!(FileHeader::decode(&bytes[..20]), Err(BadHeader::Damaged));
        let mut newer = bytes;
        newer[8] = 2;
        assert_eq!(FileHeader::decode(&newer), Err(BadHeader::Version(2)));
        let mut flipped = bytes;
        flipped[30] ^= 1;
        assert_eq!(FileHeader::decode(&flipped), Err(BadHeader::Damaged));
    }
}
