//! DER: its elements without their meaning, and decoding of values that nobody has verified.

use der::{Decode, ErrorKind};

/// The most elements of a set. Names and attributes in certificates have a few; decoders sort sets, in time that grows with the
/// square of their size.
const MAX_SET: usize = 64;

/// The most levels of elements within elements.
const MAX_DEPTH: usize = 32;

/// Tag of a sequence.
pub const SEQUENCE: u8 = 0x30;
/// Tag of a set.
pub const SET: u8 = 0x31;
/// Tag of a string of bytes, which may be elements again.
const OCTET_STRING: u8 = 0x04;
/// The bit of tags whose content is elements.
const CONSTRUCTED: u8 = 0x20;

/// One element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Its tag, in the form of one byte.
    pub tag: u8,
    /// Its content.
    pub content: &'a [u8],
    /// The element as it is encoded.
    pub whole: &'a [u8],
}

/// Returns the elements of which `bytes` consists; `None` if there is anything else.
#[must_use]
pub fn elements(bytes: &[u8]) -> Option<Vec<Element<'_>>> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (tag, header, length) = header(rest)?;
        let end = header.checked_add(length)?;
        found.push(Element {
            tag,
            content: rest.get(header..end)?,
            whole: rest.get(..end)?,
        });
        rest = rest.get(end..)?;
    }
    Some(found)
}

/// Returns the content of `bytes`, which is one element with this tag; `None` if it is anything else.
#[must_use]
pub fn content(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    match elements(bytes)?.as_slice() {
        [only] if only.tag == tag => Some(only.content),
        _ => None,
    }
}

/// Decodes bytes that nobody has verified, in a time that is linear in their number.
///
/// # Errors
///
/// The bytes are not such a value, or have a set of more than 64 elements.
pub fn decode<'a, T: Decode<'a>>(bytes: &'a [u8]) -> der::Result<T> {
    match has_small_sets(bytes) {
        true => T::from_der(bytes),
        false => Err(ErrorKind::Overlength.into()),
    }
}

/// True if no set in `bytes` has more than 64 elements: a decoder can read untrusted bytes in a time that is linear in their
/// number. Bytes that are not DER are left to the decoder.
fn has_small_sets(bytes: &[u8]) -> bool {
    are_small(bytes, false, 0)
}

fn are_small(mut rest: &[u8], is_set: bool, depth: usize) -> bool {
    let mut count = 0;
    while let Some((tag, header, length)) = header(rest) {
        count += 1;
        if is_set && count > MAX_SET || depth > MAX_DEPTH {
            return false;
        }
        // A decoder may read the elements of one that is cut off before it notices.
        let end = header.saturating_add(length).min(rest.len());
        let content = &rest[header..end];
        let has_elements = tag & CONSTRUCTED != 0 || tag == OCTET_STRING && content.first() == Some(&SEQUENCE);
        if has_elements && !are_small(content, tag == SET, depth + 1) {
            return false;
        }
        rest = &rest[end..];
    }
    true
}

/// Returns the tag of the first element, and the lengths of its header and its content. `None` for what DER does not allow:
/// lengths that are longer than needed or unknown, and for tags of several bytes, which no certificate has.
fn header(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let (tag, length) = (*bytes.first()?, *bytes.get(1)?);
    if tag & 0x1f == 0x1f {
        return None;
    }
    if length < 0x80 {
        return Some((tag, 2, length.into()));
    }
    let count = usize::from(length & 0x7f);
    let digits = bytes.get(2..2 + count).filter(|_| (1..=4).contains(&count))?;
    let value = digits.iter().fold(0, |value, digit| value << 8 | usize::from(*digit));
    let is_shortest = value >= 0x80 && digits[0] != 0;
    is_shortest.then_some((tag, 2 + count, value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn element(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = content.len();
        let header = match length {
            0..=0x7f => vec![tag, length as u8],
            0x80..=0xff => vec![tag, 0x81, length as u8],
            _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
        };
        [header, content.to_vec()].concat()
    }

    #[test]
    fn elements_are_read_in_their_order() {
        let bytes = [element(2, &[7]), element(4, &[9; 200]), element(5, &[])].concat();
        let found = elements(&bytes).unwrap();
        let tags: Vec<(u8, usize)> = found.iter().map(|found| (found.tag, found.content.len())).collect();
        assert_eq!(tags, [(2, 1), (4, 200), (5, 0)]);
        assert_eq!(content(&element(2, &[7]), 2), Some(&[7][..]));
        assert_eq!(content(&element(2, &[7]), 3), None);
        assert_eq!(content(&bytes, 2), None);
    }

    #[test]
    fn lengths_have_one_form() {
        for wrong in [
            &[2, 0x81, 1, 0][..],
            &[2, 0x82, 0, 0x80],
            &[2, 0x80, 0, 0],
            &[2, 2, 0],
            &[0x1f, 1, 0],
            &[2],
        ] {
            assert_eq!(elements(wrong), None, "{wrong:x?}");
        }
    }

    #[test]
    fn large_sets_are_found_wherever_they_are() {
        let set = |size: usize| element(SET, &element(5, &[]).repeat(size));
        let inside = |set: Vec<u8>| {
            element(
                SEQUENCE,
                &[element(5, &[]), element(OCTET_STRING, &element(SEQUENCE, &set))].concat(),
            )
        };
        assert!(has_small_sets(&set(MAX_SET)) && has_small_sets(&inside(set(MAX_SET))));
        assert!(!has_small_sets(&set(MAX_SET + 1)) && !has_small_sets(&inside(set(MAX_SET + 1))));
        // A header may claim more than there is.
        let mut cut = inside(set(MAX_SET + 1));
        cut[2] += 40;
        assert!(!has_small_sets(&cut));
        let deep = (0..200).fold(Vec::new(), |inner, _| element(SEQUENCE, &inner));
        assert!(!has_small_sets(&deep));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = has_small_sets(&bytes);
            if let Some(found) = elements(&bytes) {
                let whole: Vec<u8> = found.iter().flat_map(|found| found.whole).copied().collect();
                prop_assert_eq!(whole, bytes);
            }
        }
    }
}
