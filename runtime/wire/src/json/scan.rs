//! A quick pass over JSON that this server has written: compact, in the order of the tables.
//!
//! Nothing is checked that the writer makes certain. A caller that finds something else than expected takes the reader
//! instead.

use std::borrow::Cow;

use super::lanes::{BLOCK, Nesting, Passed, SHORT, quote_or_backslash};
use super::name::Name;
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

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    /// Returns the next byte.
    #[inline]
    #[must_use]
    pub fn next_byte(&self) -> Option<u8> {
        self.input.get(self.at).copied()
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

    /// Returns the key that comes next, without passing it. `None` if none comes, or one with escapes.
    #[inline]
    #[must_use]
    pub fn name(&self) -> Option<Name<'a>> {
        let rest = self.rest();
        let (quote, rest) = rest.split_first()?;
        let Some(block) = rest.first_chunk::<SHORT>() else {
            return self.uncommon_name();
        };
        let Some(length) = quote_or_backslash(block) else {
            return self.uncommon_name();
        };
        if *quote != b'"' || !rest[length..].starts_with(b"\":") {
            return None;
        }
        Some(Name::within(block, length, &rest[..length]))
    }

    /// Returns a key that is long or near the end of the input.
    #[cold]
    fn uncommon_name(&self) -> Option<Name<'a>> {
        let mut scan = Scan { ..*self };
        let (text, is_plain) = scan.raw_text()?;
        (is_plain && scan.next_byte() == Some(b':')).then(|| Name::new(text))
    }

    /// Passes the key `name` with its colon, if that comes next.
    #[inline]
    pub fn pass_key(&mut self, name: &Name<'_>) -> bool {
        let comes = name.is_next(self.rest());
        if comes {
            self.at += name.len() + 3;
        }
        comes
    }

    /// Passes a key that [`Scan::name`] returned, with its colon.
    #[inline]
    pub fn pass_name(&mut self, name: Name<'_>) {
        self.at += name.len() + 3;
    }

    /// Passes a key with its colon. Returns the bytes between its quotes, and true if it has no escapes.
    #[inline]
    pub(crate) fn key(&mut self) -> Option<(&'a [u8], bool)> {
        let key = self.raw_text()?;
        self.pass(b":").then_some(key)
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
        let next = self.next_byte()?;
        self.at += 1;
        match next {
            b',' => Some(true),
            _ => (next == close).then_some(false),
        }
    }

    /// Passes a short text without escapes. Returns its length, and as many bytes of the input as are copied quickly: the
    /// text comes first in them. `None`, and nothing is passed, if another value comes, or the input ends soon.
    #[inline]
    pub fn short_text(&mut self) -> Option<(usize, &'a [u8; SHORT])> {
        let (quote, rest) = self.rest().split_first()?;
        let block = rest.first_chunk::<SHORT>()?;
        let length = quote_or_backslash(block)?;
        if *quote != b'"' || rest[length] != b'"' {
            return None;
        }
        self.at += length + 2;
        Some((length, block))
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
        if self.next_byte() != Some(b'"') {
            return None;
        }
        let start = self.at + 1;
        let (mut at, mut is_plain) = (start, true);
        loop {
            at += end_of_plain(self.input.get(at..)?)?;
            if self.input[at] == b'"' {
                break;
            }
            is_plain = false;
            at += 2;
        }
        self.at = at + 1;
        Some((&self.input[start..at], is_plain))
    }

    /// Passes an integer. `None` if another value comes, or the integer has more than 64 bits.
    #[inline]
    pub fn int(&mut self) -> Option<i64> {
        let rest = self.rest();
        let is_negative = rest.first() == Some(&b'-');
        let start = usize::from(is_negative);
        let (mut at, mut value) = (start, 0_i64);
        while let Some(digit) = rest.get(at).filter(|byte| byte.is_ascii_digit()) {
            // Negative, as there is one more of these.
            value = value.checked_mul(10)?.checked_sub(i64::from(digit - b'0'))?;
            at += 1;
        }
        let is_ended = matches!(rest.get(at), Some(b',' | b'}' | b']'));
        if at == start || !is_ended {
            return None;
        }
        self.at += at;
        if is_negative { Some(value) } else { value.checked_neg() }
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
        match self.next_byte()? {
            b'"' => drop(self.raw_text()?),
            b'{' | b'[' => self.at += end_of_nested(self.rest())?,
            _ => drop(self.word()?),
        }
        Some(&self.input[start..self.at])
    }
}

/// Returns the index of the first quote or backslash.
#[inline]
fn end_of_plain(input: &[u8]) -> Option<usize> {
    let (blocks, rest) = input.as_chunks::<SHORT>();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(found) = quote_or_backslash(block) {
            return Some(index * SHORT + found);
        }
    }
    let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(blocks.len() * SHORT + found)
}

/// Returns the length of the object or array at the start of `input`.
fn end_of_nested(input: &[u8]) -> Option<usize> {
    let mut nesting = Nesting::default();
    let (blocks, rest) = input.as_chunks::<BLOCK>();
    // Quotes: neither brackets nor spaces.
    let mut last = [b'"'; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (index, block) in blocks.iter().chain([&last]).enumerate() {
        match nesting.pass(block) {
            Passed::Closed(end) => return Some(index * BLOCK + end),
            Passed::Open => {}
            Passed::Spaced => return None,
        }
    }
    None
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

    /// The length of the value at the start of `input`, found byte by byte.
    fn length(input: &[u8]) -> Option<usize> {
        let (mut open, mut in_text, mut at) = (0, false, 0);
        while at < input.len() {
            match input[at] {
                b'\\' if in_text => at += 1,
                b'"' => in_text = !in_text,
                b'{' | b'[' if !in_text => open += 1,
                b'}' | b']' if !in_text => open -= 1,
                b' ' if !in_text => return None,
                _ => {}
            }
            at += 1;
            if open == 0 {
                return Some(at);
            }
        }
        None
    }

    #[test]
    fn nested_values_end_where_their_brackets_say() {
        let pieces = [
            "{",
            "{",
            "{}",
            "}",
            "}",
            "[",
            "]",
            "[]",
            ",",
            ":",
            "1.5",
            "\"a\"",
            "\"f:name\":{}",
            r#""k:{\"name\":\"x]\"}""#,
            r#""\\""#,
            r#""\\\\\"[{""#,
            "\" \"",
            " ",
        ];
        // Any sequence will do; each seed makes another one.
        let mut state = 1_u64;
        let mut draw = |most: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        let mut closed = 0;
        for _ in 0..20_000 {
            let mut input = String::from("{");
            for _ in 0..draw(60) {
                // Half of the time without spaces.
                let most = pieces.len() - draw(2);
                input.push_str(pieces[draw(most)]);
            }
            input.push_str(&"}".repeat(draw(8)));
            let expected = length(input.as_bytes());
            let up_to = expected.unwrap_or(input.len());
            closed += usize::from(up_to > BLOCK && expected.is_some());
            let found = end_of_nested(&input.as_bytes()[..up_to]);
            assert_eq!(found, expected, "{input}");
        }
        assert!(closed > 1000, "{closed} of some length");
    }

    #[test]
    fn names_are_equal_only_to_themselves() {
        for length in 1..40 {
            let name: String = ('a'..).take(length).filter(|letter| *letter != '\\').collect();
            for behind in ["1}", "\"a text that fills the rest of the block, and more of it\"}"] {
                let json = format!("\"{name}\":{behind}");
                let mut scan = Scan::new(json.as_bytes());
                let found = scan.name().expect("a key");
                assert!(found == Name::new(name.as_bytes()));
                assert_eq!(found.digest(), Name::new(name.as_bytes()).digest());
                scan.pass_name(found);
                assert_eq!(scan.rest(), behind.as_bytes());
                for at in 0..name.len() {
                    let mut other = name.clone().into_bytes();
                    other[at] = b'_';
                    assert!(found != Name::new(&other), "{name} {at}");
                }
                assert!(found != Name::new(&name.as_bytes()[1..]));
            }
        }
        for other in ["", "1", "\"a\"", "\"a\",", "\"a", r#""a\"":1"#] {
            assert!(Scan::new(other.as_bytes()).name().is_none(), "{other}");
            let long = format!("{other}{}", " ".repeat(40));
            assert!(Scan::new(long.as_bytes()).name().is_none(), "{other}");
        }
    }

    #[test]
    fn integers_have_64_bits_and_no_fraction() {
        for value in [0, 7, -1, 420, i64::MAX, i64::MIN] {
            let json = format!("{value},");
            let mut scan = Scan::new(json.as_bytes());
            assert_eq!((scan.int(), scan.next_byte()), (Some(value), Some(b',')));
        }
        for other in [
            "",
            "-",
            "-,",
            "1",
            "1.5,",
            "1e3,",
            "9223372036854775808,",
            "-9223372036854775809,",
            "\"1\",",
        ] {
            assert_eq!(Scan::new(other.as_bytes()).int(), None, "{other}");
        }
    }

    #[test]
    fn every_place_of_a_quote_is_found() {
        for length in 0..80 {
            let text = "!".repeat(length);
            let json = format!("\"{text}\"");
            assert_eq!(Scan::new(json.as_bytes()).text().as_deref(), Some(text.as_bytes()));
            assert_eq!(Scan::new(&json.as_bytes()[..=length]).text(), None);
            let json = format!("\"{text}\",{}", "\"".repeat(SHORT));
            let mut scan = Scan::new(json.as_bytes());
            let short = scan.short_text().map(|(length, block)| block[..length].to_vec());
            assert_eq!(short.as_deref(), (length < SHORT).then_some(text.as_bytes()));
            assert_eq!(scan.next_byte(), Some(if length < SHORT { b',' } else { b'"' }));
        }
        let escaped = format!("\"a\\\"{}\"", "b".repeat(60));
        assert!(Scan::new(escaped.as_bytes()).short_text().is_none());
        assert_eq!(
            Scan::new(escaped.as_bytes()).text().as_deref(),
            Some(format!("a\"{}", "b".repeat(60)).as_bytes())
        );
    }
}
