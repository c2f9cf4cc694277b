//! Bytes as literals and copies of parts of a dictionary.
//!
//! Compressed bytes are pieces: the number of literals, these, the number of copied bytes, and their place in the dictionary as two bytes
//! in little-endian order. Numbers have seven bits in each of their bytes, and the eighth bit if another one follows. The last piece
//! may end after its literals.

use std::sync::Arc;

/// Bytes of the shortest copy.
const WORD: usize = size_of::<u64>();

/// Places in a dictionary fit two bytes, and one of them means that there is none.
const LIMIT: usize = (u16::MAX - 1) as usize;

/// Literals up to this number are copied without a call.
const SHORT: usize = 32;

/// Parts of a dictionary up to this number of bytes are copied without a call.
const STRIDE: usize = 128;

/// The bytes of which compressed ones copy parts.
#[derive(Debug)]
pub(crate) struct Dictionary(Box<[u8]>);

/// Finds the parts of a dictionary.
#[derive(Debug)]
pub(super) struct Matcher {
    dictionary: Arc<Dictionary>,
    /// Places in the dictionary by the hash of the word there; [`u16::MAX`] if there is none.
    places: Box<[u16]>,
    /// Bits of a hash that are dropped.
    shift: u32,
}

/// Literals, and a copy behind them.
struct Piece<'a> {
    /// The literals, and what follows them.
    literals: &'a [u8],
    literal_count: usize,
    /// The copied bytes, and what follows them in the dictionary.
    copied: &'a [u8],
    copied_count: usize,
    /// The other pieces.
    rest: &'a [u8],
}

impl Piece<'_> {
    /// Drops the first `count` bytes, or all if they are fewer. Returns the number of dropped bytes.
    #[cold]
    fn skip(&mut self, count: usize) -> usize {
        let literals = count.min(self.literal_count);
        let copied = (count - literals).min(self.copied_count);
        self.literals = &self.literals[literals..];
        self.literal_count -= literals;
        self.copied = &self.copied[copied..];
        self.copied_count -= copied;
        literals + copied
    }
}

impl Dictionary {
    /// Appends the `length` bytes that `compressed` stands for to `out`, without the first `skip`.
    pub(crate) fn expand<'a>(&'a self, mut compressed: &'a [u8], length: usize, mut skip: usize, out: &mut Vec<u8>) {
        let mut place = out.len();
        out.resize(place + length.saturating_sub(skip), 0);
        while let Some(mut piece) = self.piece(compressed) {
            if skip > 0 {
                skip -= piece.skip(skip);
            }
            put::<SHORT>(piece.literals, piece.literal_count, &mut out[place..]);
            place += piece.literal_count;
            put::<STRIDE>(piece.copied, piece.copied_count, &mut out[place..]);
            place += piece.copied_count;
            compressed = piece.rest;
        }
        debug_assert_eq!(place, out.len(), "the pieces have that length");
    }

    /// True if the bytes that `compressed` stands for begin with `prefix`.
    pub(crate) fn starts_with<'a>(&'a self, mut compressed: &'a [u8], mut prefix: &[u8]) -> bool {
        while !prefix.is_empty() {
            let Some(piece) = self.piece(compressed) else {
                return false;
            };
            for (bytes, count) in [
                (piece.literals, piece.literal_count),
                (piece.copied, piece.copied_count),
            ] {
                let common = count.min(prefix.len());
                if bytes[..common] != prefix[..common] {
                    return false;
                }
                prefix = &prefix[common..];
            }
            compressed = piece.rest;
        }
        true
    }

    #[inline(always)]
    fn piece<'a>(&'a self, compressed: &'a [u8]) -> Option<Piece<'a>> {
        let (literal_count, literals) = split_number(compressed)?;
        let (copied_count, copied, rest) = match split_number(&literals[literal_count..]) {
            Some((count, rest)) => {
                let (place, rest) = rest.split_first_chunk().expect("a copy has a place");
                (count, &self.0[usize::from(u16::from_le_bytes(*place))..], rest)
            }
            None => (0, &[][..], &[][..]),
        };
        Some(Piece {
            literals,
            literal_count,
            copied,
            copied_count,
            rest,
        })
    }
}

/// Copies the first `count` of `bytes` to the start of `out`; if they are few, `SIZE` of both.
#[inline]
fn put<const SIZE: usize>(bytes: &[u8], count: usize, out: &mut [u8]) {
    match (bytes.first_chunk::<SIZE>(), out.first_chunk_mut::<SIZE>()) {
        (Some(from), Some(to)) if count <= SIZE => *to = *from,
        _ => out[..count].copy_from_slice(&bytes[..count]),
    }
}

impl Matcher {
    /// Returns the matcher for a dictionary of `bytes`, of which the first 64 KB are used.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let bytes = &bytes[..bytes.len().min(LIMIT)];
        let bits = bytes.len().next_power_of_two().trailing_zeros() + 1;
        let mut matcher = Self {
            dictionary: Arc::new(Dictionary(bytes.into())),
            places: vec![u16::MAX; 1 << bits].into(),
            shift: u64::BITS - bits,
        };
        for (place, word) in bytes.windows(WORD).enumerate() {
            let hash = matcher.hash(word_at(word, 0).unwrap_or_default());
            // The first of equal words has the longest copies behind it.
            if matcher.places[hash] == u16::MAX {
                matcher.places[hash] = place as u16;
            }
        }
        matcher
    }

    pub(super) fn dictionary(&self) -> &Arc<Dictionary> {
        &self.dictionary
    }

    /// The compressed `bytes`; `None` if that saves too little. `out` is memory that may be used again.
    pub(super) fn compress_if_worth(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<Box<[u8]>> {
        let length = self.compress(bytes, out);
        (length <= bytes.len() / 8 * 7).then(|| out.as_slice().into())
    }

    /// Replaces `out` by the compressed `bytes`. Returns their length.
    pub(super) fn compress(&self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        out.clear();
        // The literals begin at `start`, behind what was copied up to `expected` in the dictionary.
        let (mut start, mut at, mut expected) = (0, 0, 0);
        while let Some(word) = word_at(bytes, at) {
            match self.find(word, expected + at - start) {
                Some(place) => {
                    let (from, place, length) = self.extend(bytes, (start, at), place);
                    push_number(out, from - start);
                    out.extend_from_slice(&bytes[start..from]);
                    push_number(out, length);
                    out.extend_from_slice(&(place as u16).to_le_bytes());
                    at = from + length;
                    (start, expected) = (at, place + length);
                }
                // What has nothing in common is skipped faster and faster.
                None => at += 1 + (at - start) / 8,
            }
        }
        if start < bytes.len() {
            push_number(out, bytes.len() - start);
            out.extend_from_slice(&bytes[start..]);
        }
        out.len()
    }

    /// A place of `word` in the dictionary: `expected`, if it is there.
    fn find(&self, word: u64, expected: usize) -> Option<usize> {
        let dictionary = &*self.dictionary.0;
        if word_at(dictionary, expected) == Some(word) {
            return Some(expected);
        }
        let place = usize::from(self.places[self.hash(word)]);
        (word_at(dictionary, place) == Some(word)).then_some(place)
    }

    /// The longest copy around that of the word at `at` from `place`, which begins at `start` or later: its places in `bytes` and in the
    /// dictionary, and its length.
    fn extend(&self, bytes: &[u8], (start, at): (usize, usize), place: usize) -> (usize, usize, usize) {
        let dictionary = &*self.dictionary.0;
        let before = bytes[start..at].iter().rev().zip(dictionary[..place].iter().rev());
        let before = before.take_while(|(one, other)| one == other).count();
        let end = at + WORD + common(&bytes[at + WORD..], &dictionary[place + WORD..]);
        (at - before, place - before, end - at + before)
    }

    fn hash(&self, word: u64) -> usize {
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

/// The number of equal bytes at the beginning of both.
fn common(one: &[u8], other: &[u8]) -> usize {
    let mut count = 0;
    while let (Some(first), Some(second)) = (word_at(one, count), word_at(other, count)) {
        if first != second {
            return count + (first ^ second).trailing_zeros() as usize / 8;
        }
        count += WORD;
    }
    let rest = one[count..].iter().zip(&other[count..]);
    count + rest.take_while(|(one, other)| one == other).count()
}

/// The bytes from `place` on as a number; `None` if they are too few.
fn word_at(bytes: &[u8], place: usize) -> Option<u64> {
    let word = bytes.get(place..)?.first_chunk()?;
    Some(u64::from_le_bytes(*word))
}

fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 1 << 7 {
        out.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The number at the beginning of `bytes`, and the rest; `None` if there is none.
#[inline]
fn split_number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    match bytes.split_first() {
        Some((first, rest)) if first >> 7 == 0 => Some((usize::from(*first), rest)),
        Some(_) => split_long_number(bytes),
        None => None,
    }
}

#[cold]
fn split_long_number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate() {
        number |= usize::from(byte & 0x7f) << (7 * place);
        if byte >> 7 == 0 {
            return Some((number, &bytes[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(matcher: &Matcher, bytes: &[u8]) -> Vec<u8> {
        let mut out = b"former".to_vec();
        assert_eq!(matcher.compress(bytes, &mut out), out.len());
        out
    }

    fn check(dictionary: &[u8], bytes: &[u8]) -> usize {
        let matcher = Matcher::new(dictionary);
        let compressed = compressed(&matcher, bytes);
        for skip in [0, 1, bytes.len() / 2, bytes.len(), bytes.len() + 1] {
            let mut out = b"head".to_vec();
            matcher.dictionary().expand(&compressed, bytes.len(), skip, &mut out);
            assert_eq!(out, [b"head", bytes.get(skip..).unwrap_or_default()].concat());
        }
        for length in 0..=bytes.len() {
            let mut prefix = bytes[..length].to_vec();
            assert!(matcher.dictionary().starts_with(&compressed, &prefix));
            if let Some(last) = prefix.last_mut() {
                *last ^= 1;
                assert!(!matcher.dictionary().starts_with(&compressed, &prefix));
            }
        }
        assert!(!matcher.dictionary().starts_with(&compressed, &[bytes, b"x"].concat()));
        compressed.len()
    }

    #[test]
    fn any_bytes_come_back() {
        let text = b"the quick brown fox jumps over the lazy dog, and the quick brown fox sleeps";
        assert_eq!(check(text, text), 4, "no literals, and one copy");
        assert_eq!(check(text, b""), 0);
        assert_eq!(check(b"", text), text.len() + 1);
        for cut in 0..text.len() {
            check(text, &text[cut..]);
            check(&text[..cut], text);
            check(text, &[&text[cut..], b"?", &text[..cut]].concat());
        }
    }

    #[test]
    fn long_literals_and_copies_come_back() {
        let long: Vec<u8> = (0..70_000_u32)
            .flat_map(|number| number.wrapping_mul(0x9e37_79b9).to_be_bytes())
            .take(70_000)
            .collect();
        let other: Vec<u8> = long.iter().map(|byte| byte ^ 0x55).collect();
        let matcher = Matcher::new(&long);
        for bytes in [
            long.clone(),
            other.clone(),
            [&long[20_000..60_000], &other[..300], &long[100..300]].concat(),
        ] {
            let mut out = Vec::new();
            matcher
                .dictionary()
                .expand(&compressed(&matcher, &bytes), bytes.len(), 0, &mut out);
            assert!(out == bytes);
        }
        assert!(compressed(&matcher, &long).len() < 10_000);
    }
}
