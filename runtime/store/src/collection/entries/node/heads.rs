//! The distinguishing bytes of neighbouring keys, side by side: a search of a large collection waits for memory, and these need
//! fewer lines of it than the keys.

use std::ops::Range;

use super::reserve_one;

/// The bytes in which sorted keys differ.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    /// The common beginning of all keys.
    shared: Box<[u8]>,
    /// The eight bytes of each key behind it, as numbers that have the order of the keys.
    numbers: Vec<u64>,
}

impl Heads {
    /// Returns the heads of `keys`, which are in order.
    pub(super) fn of<'a>(keys: impl ExactSizeIterator<Item = &'a str> + DoubleEndedIterator + Clone) -> Self {
        let mut ends = keys.clone();
        let first = ends.next().unwrap_or_default();
        let last = ends.next_back().unwrap_or(first);
        let same = first.bytes().zip(last.bytes()).take_while(|(one, other)| one == other);
        let shared = &first.as_bytes()[..same.count()];
        let mut numbers = Vec::with_capacity(keys.len());
        numbers.extend(keys.map(|key| number(&key.as_bytes()[shared.len()..])));
        Self {
            shared: shared.into(),
            numbers,
        }
    }

    /// The places of the keys that may be `key`; the place of insertion if there are none.
    pub(super) fn candidates(&self, key: &str) -> Range<usize> {
        let key = key.as_bytes();
        let (shared, rest) = key.split_at(self.shared.len().min(key.len()));
        let place = match shared.cmp(&self.shared) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Greater => self.numbers.len(),
            std::cmp::Ordering::Equal => {
                let wanted = number(rest);
                let start = self.numbers.partition_point(|number| *number < wanted);
                let count = self.numbers[start..].partition_point(|number| *number == wanted);
                return start..start + count;
            }
        };
        place..place
    }

    /// Adds the key at `place`. False if it has another beginning.
    #[must_use]
    pub(super) fn insert(&mut self, place: usize, key: &str) -> bool {
        match key.as_bytes().strip_prefix(&*self.shared) {
            Some(rest) => {
                reserve_one(&mut self.numbers);
                self.numbers.insert(place, number(rest));
                true
            }
            None => false,
        }
    }

    pub(super) fn remove(&mut self, place: usize) {
        self.numbers.remove(place);
    }
}

/// The first eight bytes as a number; bytes that are not there count as zeros.
fn number(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = bytes.len().min(8);
    first[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_the_keys_with_the_same_head() {
        let keys = ["/a/", "/a/a", "/a/a\0", "/a/abcdefghi", "/a/abcdefghj", "/a/b"];
        let mut heads = Heads::of(keys.iter().copied());
        assert_eq!(&*heads.shared, b"/a/");
        for (key, expected) in [
            ("/a/", 0..1),
            ("/a/a", 1..3),
            ("/a/a\0", 1..3),
            ("/a/abcdefghj", 3..5),
            ("/a/abcdefg", 3..3),
            ("/a/b", 5..6),
            ("/a/c", 6..6),
            ("/a", 0..0),
            ("/A/b", 0..0),
            ("/b", 6..6),
            ("", 0..0),
        ] {
            assert_eq!(heads.candidates(key), expected, "{key:?}");
        }
        assert!(heads.insert(5, "/a/az") && !heads.insert(7, "/b"));
        assert_eq!(heads.candidates("/a/az"), 5..6);
        heads.remove(0);
        assert_eq!(heads.candidates("/a/b"), 5..6);
    }
}
