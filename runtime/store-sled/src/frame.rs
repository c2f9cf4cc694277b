//! The format of journals and of records: see `FORMAT.md`.

mod file;
mod reader;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, Change, Record};

pub(crate) use self::file::{BadHeader, FileHeader, Follows, HEADER, VERSION, Version};
pub(crate) use self::reader::Reader;

const FRAME_HEADER: usize = 48;
const FRAME_HEADER_1: usize = 32;
const WRITE_HEADER: usize = 28;
/// Not valid UTF-8, so that no text looks like a frame.
const FRAME_MAGIC: [u8; 4] = [0xff, 0x50, 0x4c, 0xfe];
const NO_GAP: u32 = u32::MAX;
/// The last byte of a frame of version 2. It is not zero, so that a frame shows whether its end was written.
const END: u8 = 0xff;

/// Appends the frame of `batch` to `out`, for the file of `header`, which is of version 2.
///
/// `durable` is the number of bytes of the file that are known to be on the disk.
pub(crate) fn encode(batch: &Batch, previous: Revision, durable: u64, header: &FileHeader, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; FRAME_HEADER]);
    for record in &batch.records {
        encode_record(record, out);
    }
    out.push(END);
    let (front, body) = out[start..].split_at_mut(FRAME_HEADER);
    front[..4].copy_from_slice(&FRAME_MAGIC);
    front[8..12].copy_from_slice(&length(body.len()).to_le_bytes());
    front[12..16].copy_from_slice(&checksum(header.salt, &[body]).to_le_bytes());
    front[16..20].copy_from_slice(&length(batch.records.len()).to_le_bytes());
    front[24..32].copy_from_slice(&previous.0.to_le_bytes());
    front[32..40].copy_from_slice(&batch.at.to_le_bytes());
    front[40..48].copy_from_slice(&durable.to_le_bytes());
    let sum = checksum(header.salt, &[&front[8..]]);
    front[4..8].copy_from_slice(&sum.to_le_bytes());
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

/// The bytes at one position of a journal file, decoded as a frame.
#[derive(Debug)]
pub(crate) enum Frame {
    /// A whole frame.
    Whole(Whole),
    /// Zeros only, to the end of the file.
    End,
    /// Other bytes: an incomplete frame, or damage.
    Broken,
}

/// A frame whose checksums match.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) batch: Batch,
    /// Last revision of the previous frame, which may be in another file.
    pub(crate) previous: Revision,
    /// Bytes of the file that were on the disk before the frame; 0 in version 1.
    pub(crate) durable: u64,
    /// Bytes of the frame.
    pub(crate) length: usize,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, Default)]
struct Front {
    header: usize,
    /// Bytes of header and body.
    length: usize,
    /// Checksum of the body; in version 1 of most of the header, too.
    body: u32,
    count: u32,
    previous: Revision,
    at: u64,
    durable: u64,
    /// True if the body has a last byte that belongs to no write.
    has_end: bool,
}

/// Decodes the start of `rest`. Objects share the memory of `rest`.
pub(crate) fn decode(rest: &Bytes, header: &FileHeader) -> Frame {
    if rest.iter().all(|byte| *byte == 0) {
        return Frame::End;
    }
    let Some(front) = whole(rest, header) else {
        return Frame::Broken;
    };
    decode_body(&rest.slice(..front.length), front).map_or(Frame::Broken, Frame::Whole)
}

/// Bytes of a frame's header in a file of this version.
pub(crate) fn front_length(version: Version) -> usize {
    match version {
        Version::One => FRAME_HEADER_1,
        Version::Two => FRAME_HEADER,
    }
}

/// The length of the frame at the start of `rest`, whose body may be missing or broken. In version 1 it is not protected
/// by a checksum.
pub(crate) fn length_in_front(rest: &[u8], header: &FileHeader) -> Option<usize> {
    front(rest, header).map(|front| front.length)
}

/// The position of the first whole frame in `rest`, and its length.
pub(crate) fn find_whole(rest: &[u8], header: &FileHeader) -> Option<(usize, usize)> {
    let candidates = rest.windows(FRAME_MAGIC.len()).enumerate();
    candidates
        .filter(|(_, window)| **window == FRAME_MAGIC)
        .find_map(|(start, _)| Some((start, whole(&rest[start..], header)?.length)))
}

/// The writes at the start of `rest` as far as they can be read, behind a frame's header whose content is ignored.
pub(crate) fn legible(rest: &Bytes, header: &FileHeader) -> Vec<Record> {
    let mut reader = Reader { rest };
    let mut records = Vec::new();
    if reader.take(front_length(header.version)).is_some() {
        while let Some(record) = decode_record(rest, &mut reader) {
            records.push(record);
        }
    }
    records
}

/// The header of the frame at the start of `rest`, if its checksums match.
fn whole(rest: &[u8], header: &FileHeader) -> Option<Front> {
    let front = front(rest, header)?;
    let frame = rest.get(..front.length)?;
    let found = match header.version {
        Version::One => checksum(header.salt, &[&frame[4..8], &frame[12..]]),
        Version::Two => checksum(header.salt, &[&frame[FRAME_HEADER..]]),
    };
    (found == front.body).then_some(front)
}

fn front(rest: &[u8], file: &FileHeader) -> Option<Front> {
    let header = front_length(file.version);
    let mut reader = Reader {
        rest: rest.get(..header)?,
    };
    if reader.take(4)? != FRAME_MAGIC {
        return None;
    }
    let mut front = Front {
        header,
        ..Front::default()
    };
    let is_two = file.version == Version::Two;
    front.has_end = is_two;
    if is_two && reader.u32()? != checksum(file.salt, &[&rest[8..header]]) {
        return None;
    }
    front.length = header.checked_add(reader.u32()? as usize)?;
    front.body = reader.u32()?;
    front.count = reader.u32()?;
    if is_two {
        reader.take(4)?;
    }
    front.previous = Revision(reader.u64()?);
    front.at = reader.u64()?;
    if is_two {
        front.durable = reader.u64()?;
    }
    Some(front)
}

fn decode_body(frame: &Bytes, front: Front) -> Option<Whole> {
    let mut reader = Reader {
        rest: frame.get(front.header..)?,
    };
    let mut records = Vec::with_capacity(front.count.min(4096) as usize);
    for _ in 0..front.count {
        records.push(decode_record(frame, &mut reader)?);
    }
    let end: &[u8] = if front.has_end { &[END] } else { &[] };
    (reader.rest == end).then_some(Whole {
        batch: Batch { at: front.at, records },
        previous: front.previous,
        durable: front.durable,
        length: front.length,
    })
}

/// The bytes that [`encode_record`] appends.
pub(crate) fn length_of(record: &Record) -> usize {
    WRITE_HEADER + record.key.len() + record.bytes.len()
}

/// The length of the write at the start of `bytes`; `None` if its header is not complete.
pub(crate) fn record_length(bytes: &[u8]) -> Option<usize> {
    let mut header = Reader {
        rest: bytes.get(..WRITE_HEADER)?,
    };
    header.take(2)?;
    let key_length = usize::from(header.u16()?);
    header.take(20)?;
    Some(WRITE_HEADER + key_length + header.u32()? as usize)
}

/// Reads a write that consists of all `bytes`.
pub(crate) fn decode_record_alone(bytes: &Bytes) -> Option<Record> {
    let mut reader = Reader { rest: bytes };
    let record = decode_record(bytes, &mut reader)?;
    reader.rest.is_empty().then_some(record)
}

/// Reads a write that consists of all `bytes`. Its object has memory of its own, of exactly its size: records outlive each
/// other, and caches keep the object.
pub(crate) fn decode_record_detached(bytes: &[u8]) -> Option<Record> {
    let mut reader = Reader { rest: bytes };
    let record = decode_record_with(Bytes::copy_from_slice, &mut reader)?;
    reader.rest.is_empty().then_some(record)
}

/// The same record, whose object does not share the memory of a whole file.
pub(crate) fn detached(mut record: Record) -> Record {
    record.bytes = Bytes::copy_from_slice(&record.bytes);
    record
}

fn decode_record(frame: &Bytes, reader: &mut Reader<'_>) -> Option<Record> {
    decode_record_with(|object| frame.slice_ref(object), reader)
}

/// Reads a write whose object is the result of `take` for its bytes.
fn decode_record_with(take: impl FnOnce(&[u8]) -> Bytes, reader: &mut Reader<'_>) -> Option<Record> {
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
    let bytes = take(reader.take(length)?);
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

fn checksum(salt: u64, parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&salt.to_le_bytes());
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn file(salt: u64) -> FileHeader {
        FileHeader::new(1, salt, Follows::default())
    }

    #[test]
    fn a_frame_is_read_back() {
        let mut bytes = Vec::new();
        encode(&batch(), Revision(10), 77, &file(5), &mut bytes);
        let length = bytes.len();
        bytes.extend_from_slice(&[0; 100]);
        let bytes = Bytes::from(bytes);
        let Frame::Whole(read) = decode(&bytes, &file(5)) else {
            panic!("the frame is whole");
        };
        assert_eq!((read.batch, read.previous, read.durable), (batch(), Revision(10), 77));
        assert_eq!(read.length, length);
        assert!(matches!(decode(&bytes.slice(length..), &file(5)), Frame::End));
        assert!(matches!(decode(&bytes, &file(6)), Frame::Broken), "the salt counts");
    }

    #[test]
    fn a_detached_object_has_memory_of_exactly_its_size() {
        let [put, _] = &batch().records[..] else {
            panic!("two records");
        };
        let mut bytes = Vec::new();
        encode_record(put, &mut bytes);
        let detached = decode_record_detached(&bytes).unwrap();
        assert_eq!(detached, *put);
        assert_eq!(detached.bytes.try_into_mut().unwrap().capacity(), put.bytes.len());
        assert_eq!(decode_record_detached(&bytes[1..]), None);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_breaks_a_frame() {
        let mut bytes = Vec::new();
        encode(&batch(), Revision(10), 0, &file(5), &mut bytes);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(
                matches!(decode(&Bytes::from(flipped), &file(5)), Frame::Broken),
                "bit {bit}"
            );
        }
        for end in 1..bytes.len() {
            assert!(matches!(
                decode(&Bytes::from(bytes[..end].to_vec()), &file(5)),
                Frame::Broken
            ));
        }
    }

    #[test]
    fn a_whole_frame_behind_a_broken_one_is_found() {
        let mut bytes = b"broken".to_vec();
        encode(&batch(), Revision(10), 0, &file(5), &mut bytes);
        assert_eq!(find_whole(&bytes, &file(5)), Some((6, bytes.len() - 6)));
        assert_eq!(find_whole(&bytes[..bytes.len() - 1], &file(5)), None);
    }

    #[test]
    fn the_writes_of_a_broken_frame_are_named_as_far_as_they_are_legible() {
        let mut bytes = Vec::new();
        encode(&batch(), Revision(10), 0, &file(5), &mut bytes);
        bytes[0] = 0;
        let revisions = |bytes: &[u8]| -> Vec<u64> {
            let records = legible(&Bytes::copy_from_slice(bytes), &file(5));
            records.iter().map(|record| record.revision.0).collect()
        };
        assert_eq!(revisions(&bytes), [11, 12]);
        assert_eq!(revisions(&bytes[..bytes.len() - 2]), [11]);
        assert_eq!(revisions(&[0; 500]), [0; 0]);
    }
}
