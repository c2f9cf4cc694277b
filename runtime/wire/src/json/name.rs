//! Names of fields.

use super::lanes::SHORT;

/// The name of a field, as it is found quickly in JSON.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    text: &'a [u8],
    /// The first eight bytes, or all of a shorter name with zeros behind.
    first: u64,
    /// The eight bytes behind the first ones; 0 for a name of less than sixteen.
    second: u64,
    /// The last eight bytes, or all of a shorter name.
    last: u64,
}

impl<'a> Name<'a> {
    /// Returns the name with the characters `text`, which need no escapes.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        let word = |bytes: Option<&[u8; 8]>| bytes.map(|bytes| u64::from_le_bytes(*bytes));
        let second = text.get(8..).and_then(<[u8]>::first_chunk);
        let mut short = [0; 8];
        let length = text.len().min(8);
        short[..length].copy_from_slice(&text[..length]);
        let first = u64::from_le_bytes(short);
        Self {
            text,
            first,
            second: word(second).unwrap_or_default(),
            last: word(text.last_chunk()).unwrap_or(first),
        }
    }

    /// Returns the name `text`, which is the first `length` bytes of `block`.
    #[inline]
    pub(super) fn within(block: &[u8; SHORT], length: usize, text: &'a [u8]) -> Self {
        let (words, _) = block.as_chunks();
        let word = |index: usize| words.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (first, last) = match text.last_chunk() {
            Some(last) => (word(0), u64::from_le_bytes(*last)),
            None => {
                let first = word(0) & ((1 << (8 * length)) - 1);
                (first, first)
            }
        };
        let second = if length < 16 { 0 } else { word(1) };
        Self {
            text,
            first,
            second,
            last,
        }
    }

    /// Returns the number of bytes.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// True if `rest` begins with this name as a key, with quotes and colon.
    #[inline]
    pub(super) fn is_next(&self, rest: &[u8]) -> bool {
        let length = self.text.len();
        let end = length + 1;
        // The end first: it tells most keys of other lengths.
        if rest.get(end..end + 2) != Some(b"\":") || rest[0] != b'"' {
            return false;
        }
        let word = |at: usize| {
            let bytes = rest.get(at..).and_then(<[u8]>::first_chunk);
            bytes.map(|bytes| u64::from_le_bytes(*bytes))
        };
        match (word(1), length) {
            (Some(first), 8..=24) => {
                let is_same = first == self.first && word(length - 7) == Some(self.last);
                is_same && (length <= 16 || word(9) == Some(self.second))
            }
            (Some(first), 0..8) => first & ((1 << (8 * length)) - 1) == self.first,
            _ => rest[1..end] == *self.text,
        }
    }

    /// Returns a number that is the same for equal names, and differs for most others.
    #[inline]
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.first ^ self.last.rotate_left(29) ^ self.text.len() as u64
    }
}

impl PartialEq for Name<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let ends_are_equal = self.first == other.first && self.last == other.last;
        // The first and last eight bytes are all of a name of up to sixteen.
        ends_are_equal && self.text.len() == other.text.len() && (self.text.len() <= 16 || self.text == other.text)
    }
}

impl Eq for Name<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_next_if_all_of_its_bytes_are() {
        for length in 0..40 {
            let name: String = ('a'..='z').cycle().take(length).collect();
            for behind in ["1}", "\"a text that fills the rest of the block, and more of it\"}"] {
                let json = format!("\"{name}\":{behind}");
                assert!(Name::new(name.as_bytes()).is_next(json.as_bytes()), "{json}");
                for at in 0..length + 3 {
                    let mut other = json.clone().into_bytes();
                    other[at] = b'_';
                    assert!(!Name::new(name.as_bytes()).is_next(&other), "{name} {at}");
                }
                assert!(!Name::new(name.as_bytes()).is_next(&json.as_bytes()[..length + 2]));
            }
        }
    }
}
