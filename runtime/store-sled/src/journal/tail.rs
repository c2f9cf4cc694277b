//! Distinguishes a write that a crash tore from damage.

use crate::frame::{self, FileHeader};

/// Disks write sectors whole.
const SECTOR: u64 = 512;

/// Some memory that serves as a disk writes smaller units.
const LINE: u64 = 64;

/// No frame has so many zeros in a row: objects are text, and the numbers of a frame have fewer.
const ZEROS: usize = 32;

/// True if `rest`, from byte `at` of its file to the end, may be one frame that a loss of power left incomplete.
///
/// The file has zeros where a frame will be written. A disk writes the sectors in any order, so a torn frame has
/// sectors of zeros, and nothing but zeros behind it. A frame without such sectors was written as a whole, and changed
/// later.
pub(super) fn is_torn(rest: &[u8], at: u64, header: &FileHeader) -> bool {
    if frame::find_whole(rest, header).is_some() {
        // Only one frame is being written at a time.
        return false;
    }
    let Some(length) = frame::length_in_front(rest, header) else {
        return is_front_torn(rest, at, frame::front_length(header.version));
    };
    let Some((frame, behind)) = rest.split_at_checked(length) else {
        // The file was not extended for it yet.
        return true;
    };
    let has_no_end = frame.last() == Some(&0);
    is_zero(behind)
        && (has_no_end || sectors(frame, at).any(|sector| starts_unwritten(sector) || ends_unwritten(sector)))
}

/// Like [`is_torn`], for a frame whose header of `front` bytes cannot be read.
fn is_front_torn(rest: &[u8], at: u64, front: usize) -> bool {
    let line = usize::try_from(LINE - at % LINE).unwrap_or_default();
    if is_zero(&rest[..line.min(rest.len())]) {
        return true;
    }
    let mut before = 0;
    for sector in sectors(rest, at) {
        let expected = front.saturating_sub(before).min(sector.len());
        if expected == 0 {
            return false;
        }
        // The numbers of a header may end with zeros, a body does not start with one.
        let ends_early = if sector.len() > expected {
            is_zero(&sector[expected..])
        } else {
            ends_unwritten(sector)
        };
        if ends_early || starts_unwritten(sector) {
            return true;
        }
        before += sector.len();
    }
    // The file ends within the header.
    before < front
}

fn starts_unwritten(sector: &[u8]) -> bool {
    is_zero(&sector[..ZEROS.min(sector.len())])
}

fn ends_unwritten(sector: &[u8]) -> bool {
    is_zero(&sector[sector.len().saturating_sub(ZEROS)..])
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Splits `bytes`, which start at byte `at` of their file, into parts of one sector each.
fn sectors(bytes: &[u8], at: u64) -> impl Iterator<Item = &[u8]> {
    let first = usize::try_from(SECTOR - at % SECTOR).unwrap_or_default();
    let (first, rest) = bytes.split_at(first.min(bytes.len()));
    let sector = usize::try_from(SECTOR).unwrap_or(1);
    std::iter::once(first)
        .chain(rest.chunks(sector))
        .filter(|sector| !sector.is_empty())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use planesmith_store::Revision;
    use planesmith_store::log::{Batch, Change, Record};

    use super::*;
    use crate::frame::Follows;

    /// A frame of 2,000 bytes of text at byte `at`, and zeros behind it.
    fn written(at: u64) -> (FileHeader, Vec<u8>, usize) {
        let header = FileHeader::new(1, 5, Follows::default());
        let record = Record {
            revision: Revision(7),
            key: "/things/a".into(),
            change: Change::Put { expires: 0 },
            bytes: Bytes::from(vec![b'x'; 2000]),
            gap: None,
        };
        let batch = Batch {
            at: 1,
            records: vec![record],
        };
        let mut bytes = Vec::new();
        frame::encode(&batch, Revision(6), at, &header, &mut bytes);
        let length = bytes.len();
        bytes.resize(length + 3000, 0);
        (header, bytes, length)
    }

    /// The sectors of the frame as ranges of its bytes.
    fn ranges(at: u64, length: usize) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let parts = sectors(&[1; 8192][..length], at).map(<[u8]>::len).collect::<Vec<_>>();
        let ranges = parts.into_iter().map(|part| {
            start += part;
            start - part..start
        });
        ranges.collect()
    }

    #[test]
    fn a_frame_that_lacks_any_of_its_sectors_is_torn() {
        for at in [64, 470, 490, 500, 511, 512, 4000] {
            let (header, bytes, length) = written(at);
            let ranges = ranges(at, length);
            for missing in 1..1_u32 << ranges.len() {
                let mut torn = bytes.clone();
                for (number, range) in ranges.iter().enumerate() {
                    if missing >> number & 1 == 1 {
                        torn[range.clone()].fill(0);
                    }
                }
                if torn.iter().any(|byte| *byte != 0) {
                    assert!(is_torn(&torn, at, &header), "at {at}, missing {missing:b}");
                }
            }
        }
    }

    #[test]
    fn a_frame_that_ends_with_the_file_or_within_a_sector_is_torn() {
        let (header, bytes, length) = written(500);
        for end in 1..length {
            assert!(is_torn(&bytes[..end], 500, &header), "the file ends at {end}");
        }
        for end in (12..length).step_by(64) {
            let mut torn = bytes.clone();
            torn[end..].fill(0);
            assert!(is_torn(&torn, 500, &header), "written up to {end}");
            let mut torn = bytes.clone();
            torn[..end].fill(0);
            assert!(is_torn(&torn, 500, &header), "written from {end} on");
        }
    }

    #[test]
    fn a_frame_with_a_changed_byte_is_not_torn() {
        for at in [64, 470, 490, 511] {
            let (header, bytes, length) = written(at);
            for changed in 0..length {
                let mut damaged = bytes.clone();
                damaged[changed] ^= 1 << (changed % 8);
                assert!(!is_torn(&damaged, at, &header), "byte {changed} at {at}");
            }
            let mut garbage = bytes.clone();
            garbage[..length].fill(0xa5);
            assert!(!is_torn(&garbage, at, &header));
        }
    }

    #[test]
    fn a_broken_frame_in_front_of_something_else_is_not_torn() {
        let (header, bytes, length) = written(64);
        let mut followed = bytes[..length].to_vec();
        followed.extend_from_slice(&bytes);
        followed[448..960].fill(0);
        assert!(!is_torn(&followed, 64, &header), "a whole frame follows");
        let mut followed = bytes;
        followed[448..960].fill(0);
        followed[length + 700] = 1;
        assert!(!is_torn(&followed, 64, &header), "there is a byte behind the frame");
    }
}
