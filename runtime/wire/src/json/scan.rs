//! A quick pass over JSON that this server has written: compact, in the order of the tables.
//!
//! Nothing is checked that the writer makes certain. A caller that finds something else than expected takes the reader
//! instead.

use std::borrow::Cow;

use super::unescape::unescape;

/// Goes over compact JSON from left to right.
#[derive(Debug)]
pub struct Scan<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    /// Goes over `input` from its start.
    #[inline]
    #[must_use]
    pub fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    /// The position in the input, in bytes.
    #[inline]
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    /// Passes `expected`, if that comes next.
    #[inline]
    pub fn pass(&mut self, expected: &[u8]) -> bool {
        let comes = self.rest().starts_with(expected);
        if comes {
            self.at += expected.len();
        }
        comes
    }

    /// Passes the key `name` with its colon, if that comes next. Names of fields need no escapes.
    #[inline]
    pub fn key(&mut self, name: &str) -> bool {
        let (rest, end) = (self.rest(), name.len() + 1);
        // Most fields of a large struct are absent: where a key of this length would end tells without a look at the name.
        let comes =
            rest.get(end..end + 2) == Some(b"\":") && rest[0] == b'"' && are_equal(&rest[1..end], name.as_bytes());
        if comes {
            self.at += end + 2;
        }
        comes
    }

    /// Enters an object or array; true if it has a first entry. `None` when none comes next.
    #[inline]
    pub fn enter(&mut self, open: u8, close: u8) -> Option<bool> {
        match self.rest() {
            [first, second, ..] if *first == open => {
                let is_empty = *second == close;
                self.at += 1 + usize::from(is_empty);
                Some(!is_empty)
            }
            _ => None,
        }
    }

    /// Goes on behind an entry; true if another one follows in the object or array that ends with `close`.
    #[inline]
    pub fn another(&mut self, close: u8) -> Option<bool> {
        let next = *self.rest().first()?;
        self.at += 1;
        match next {
            b',' => Some(true),
            _ => (next == close).then_some(false),
        }
    }

    /// A text without its quotes and escapes.
    #[inline]
    pub fn text(&mut self) -> Option<Cow<'a, [u8]>> {
        let (raw, is_plain) = self.raw_text()?;
        match is_plain {
            true => Some(Cow::Borrowed(raw)),
            false => unescape(raw).ok().map(|text| Cow::Owned(text.into_bytes())),
        }
    }

    /// Returns the bytes between the quotes of a text, and true if it has no escapes.
    #[inline]
    fn raw_text(&mut self) -> Option<(&'a [u8], bool)> {
        if self.input.get(self.at) != Some(&b'"') {
            return None;
        }
        let start = self.at + 1;
        let (mut at, mut is_plain) = (start, true);
        loop {
            at = quote_or_backslash(self.input, at)?;
            if self.input[at] == b'"' {
                break;
            }
            is_plain = false;
            at += 2;
        }
        self.at = at + 1;
        Some((&self.input[start..at], is_plain))
    }

    /// The characters of a number, a truth value or `null`.
    #[inline]
    pub fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        if !matches!(rest.first()?, b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
            return None;
        }
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']'))?;
        self.at += end;
        str::from_utf8(&rest[..end]).ok()
    }

    /// Passes a value and returns its bytes.
    #[inline]
    pub fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let mut open = 0_usize;
        loop {
            match self.input.get(self.at)? {
                b'"' => {
                    self.raw_text()?;
                    // A key of an empty object, of which managed fields mostly consist.
                    if open > 0 && self.rest().starts_with(b":{}") {
                        self.at += 3;
                    }
                }
                b'{' | b'[' => {
                    open += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    open = open.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if open > 0 => {
                    self.at += 1;
                    continue;
                }
                _ => drop(self.word()?),
            }
            if open == 0 {
                return Some(&self.input[start..self.at]);
            }
        }
    }
}

/// True if two names of the same length are equal. They are short: a call costs more than the comparison.
#[inline]
fn are_equal(one: &[u8], other: &[u8]) -> bool {
    if let (Some(first), Some(last)) = (one.first_chunk::<8>(), one.last_chunk::<8>())
        && one.len() <= 16
    {
        return other.first_chunk() == Some(first) && other.last_chunk() == Some(last);
    }
    if let (Some(first), Some(last)) = (one.first_chunk::<4>(), one.last_chunk::<4>())
        && one.len() < 8
    {
        return other.first_chunk() == Some(first) && other.last_chunk() == Some(last);
    }
    one == other
}

/// The index of the first quote or backslash from `at` on.
#[inline]
fn quote_or_backslash(input: &[u8], mut at: usize) -> Option<usize> {
    while let Some(chunk) = input.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*chunk);
        let found = bytes_of(word, b'"') | bytes_of(word, b'\\');
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += size_of::<u64>();
    }
    let rest = input.get(at..)?;
    let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(at + found)
}

/// The high bit of each byte of `word` that is `byte`; those above the first one may be set as well.
#[inline]
fn bytes_of(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zeros = word ^ (ONES * u64::from(byte));
    zeros.wrapping_sub(ONES) & !zeros & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_they_do() {
        for value in [
            r#""a \"}] text, longer than a word""#,
            "-1.5e3",
            "null",
            "{}",
            "[]",
            r#"{"a":[1,{"b\\":"]"},[]],"c":true}"#,
        ] {
            let input = format!("{value},1");
            let mut scan = Scan::new(input.as_bytes());
            assert_eq!(scan.value(), Some(value.as_bytes()));
            assert_eq!(scan.another(b'}'), Some(true));
        }
        for broken in ["", "\"a", "{\"a\":1", "]", "\"\\", " 1,", "{\"a\": 1}"] {
            assert_eq!(Scan::new(broken.as_bytes()).value(), None, "{broken}");
        }
    }

    #[test]
    fn names_are_equal_only_to_themselves() {
        for length in 0..40 {
            let name: Vec<u8> = (b'a'..).take(length).collect();
            assert!(are_equal(&name, &name.clone()));
            for at in 0..length {
                let mut other = name.clone();
                other[at] = b'_';
                assert!(!are_equal(&name, &other), "{length} {at}");
            }
        }
    }

    #[test]
    fn every_place_of_a_quote_is_found() {
        for length in 0..40 {
            let mut input = vec![b'!'; length];
            input.push(b'"');
            assert_eq!(quote_or_backslash(&input, 0), Some(length));
            assert_eq!(quote_or_backslash(&input[..length], 0), None);
        }
    }
}
