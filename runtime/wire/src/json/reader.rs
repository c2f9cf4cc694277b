//! A pull reader over JSON bytes.
//!
//! It only reports that something is malformed, not what: [`super::syntax::explain`] has the words, so
//! that the way of valid input carries no messages.

use std::borrow::Cow;

use super::unescape::{check_escapes, unescape};

/// The depth to which arrays and objects may be nested.
pub(crate) const MAX_DEPTH: usize = 10_000;

/// The input is not JSON, or nested too deep.
#[derive(Debug)]
pub struct Malformed;

/// Reads values from left to right.
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    at: usize,
    depth: usize,
}

/// The kind of the value that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// Text.
    Text,
    /// An object.
    Object,
    /// An array.
    Array,
}

impl Next {
    /// The name in decoding errors.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Next::Null => "null",
            Next::Bool => "bool",
            Next::Number => "number",
            Next::Text => "string",
            Next::Object => "object",
            Next::Array => "array",
        }
    }
}

impl<'a> Reader<'a> {
    /// Reads `input` from its start.
    #[inline]
    pub fn new(input: &'a [u8]) -> Self {
        Self::within(input, 0)
    }

    /// A reader of what lies within `depth` arrays and objects.
    #[inline]
    pub fn within(input: &'a [u8], depth: usize) -> Self {
        Reader { input, at: 0, depth }
    }

    /// The number of arrays and objects that are open.
    #[inline]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Checks that the input is one value and nothing else.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when it is not.
    pub fn only_value(mut self) -> Result<(), Malformed> {
        self.skip()?;
        self.end()
    }

    /// Checks that nothing but white space is left.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when something is.
    pub fn end(&mut self) -> Result<(), Malformed> {
        self.skip_space();
        if self.at == self.input.len() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }

    /// The kind of the value that comes next.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when no value does.
    #[inline]
    pub fn peek(&mut self) -> Result<Next, Malformed> {
        self.skip_space();
        match self.byte() {
            Some(b'"') => Ok(Next::Text),
            Some(b'{') => Ok(Next::Object),
            Some(b'[') => Ok(Next::Array),
            Some(b'-' | b'0'..=b'9') => Ok(Next::Number),
            Some(b't' | b'f') => Ok(Next::Bool),
            Some(b'n') => Ok(Next::Null),
            _ => Err(Malformed),
        }
    }

    /// Passes `null`.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when it does not come next.
    pub fn null(&mut self) -> Result<(), Malformed> {
        self.literal(b"null")
    }

    /// Reads a truth value.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when none comes next.
    pub fn bool(&mut self) -> Result<bool, Malformed> {
        if self.byte() == Some(b't') {
            self.literal(b"true")?;
            Ok(true)
        } else {
            self.literal(b"false")?;
            Ok(false)
        }
    }

    /// The characters of a number.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when none comes next.
    pub fn number(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(Malformed),
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        str::from_utf8(&self.input[start..self.at]).map_err(|_| Malformed)
    }

    /// The characters of a text; bytes that are not UTF-8 and lone surrogates become U+FFFD.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when it has no end or a wrong escape.
    #[inline]
    pub fn text(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let start = self.at + 1;
        let (end, plain) = self.end_of_text()?;
        let raw = &self.input[start..end];
        if plain && let Ok(text) = str::from_utf8(raw) {
            return Ok(Cow::Borrowed(text));
        }
        unescape(raw).map(Cow::Owned)
    }

    /// Enters an object or array; `close` is its closing bracket. Returns true if there is a first entry.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when it is nested too deep.
    #[inline]
    pub fn enter(&mut self, close: u8) -> Result<bool, Malformed> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Malformed);
        }
        self.skip_space();
        if self.byte() == Some(close) {
            self.at += 1;
            self.depth -= 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Goes on behind an entry of the object or array that ends with `close`. Returns true if there is another entry.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when neither a comma nor `close` follows.
    #[inline]
    pub fn another(&mut self, close: u8) -> Result<bool, Malformed> {
        self.skip_space();
        match self.byte() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            _ => Err(Malformed),
        }
    }

    /// The key of an object's entry, with the colon behind it.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when none comes next.
    #[inline]
    pub fn key(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.skip_space();
        if self.byte() != Some(b'"') {
            return Err(Malformed);
        }
        let key = self.text()?;
        self.skip_space();
        if self.byte() != Some(b':') {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(key)
    }

    /// Passes one value and returns its bytes. Does not recurse, so depth costs no stack.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when it is not one.
    pub fn skip(&mut self) -> Result<&'a [u8], Malformed> {
        self.skip_space();
        let start = self.at;
        // One bit of nesting per level, set for an object.
        let mut open: Vec<bool> = Vec::new();
        loop {
            let mut inside = false;
            match self.peek()? {
                Next::Null => self.null()?,
                Next::Bool => drop(self.bool()?),
                Next::Number => drop(self.number()?),
                Next::Text => drop(self.checked_text()?),
                Next::Object => {
                    inside = self.enter(b'}')?;
                    if inside {
                        open.push(true);
                    }
                }
                Next::Array => {
                    inside = self.enter(b']')?;
                    if inside {
                        open.push(false);
                    }
                }
            }
            if !inside && !self.next_sibling(&mut open)? {
                return Ok(&self.input[start..self.at]);
            }
            if open.last() == Some(&true) {
                self.skip_key()?;
            }
        }
    }

    /// Leaves finished arrays and objects. True if a value follows inside one that is still open.
    fn next_sibling(&mut self, open: &mut Vec<bool>) -> Result<bool, Malformed> {
        while let Some(object) = open.last() {
            if self.another(if *object { b'}' } else { b']' })? {
                return Ok(true);
            }
            open.pop();
        }
        Ok(false)
    }

    fn skip_key(&mut self) -> Result<(), Malformed> {
        self.skip_space();
        if self.byte() != Some(b'"') {
            return Err(Malformed);
        }
        self.checked_text()?;
        self.skip_space();
        if self.byte() != Some(b':') {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// Passes a text; its escapes are checked, its bytes are not decoded.
    fn checked_text(&mut self) -> Result<(), Malformed> {
        let start = self.at + 1;
        let (end, plain) = self.end_of_text()?;
        if plain {
            Ok(())
        } else {
            check_escapes(&self.input[start..end])
        }
    }

    /// Passes a text and returns where its closing quote is, and whether it holds no escapes.
    #[inline]
    fn end_of_text(&mut self) -> Result<(usize, bool), Malformed> {
        let mut plain = true;
        let mut at = self.at + 1;
        loop {
            let rest = self.input.get(at..).unwrap_or_default();
            at += rest
                .iter()
                .position(|byte| STOPS[usize::from(*byte)])
                .ok_or(Malformed)?;
            match self.input[at] {
                b'"' => break,
                b'\\' => {
                    plain = false;
                    at += 2;
                }
                _ => return Err(Malformed),
            }
        }
        self.at = at + 1;
        Ok((at, plain))
    }

    fn literal(&mut self, literal: &[u8]) -> Result<(), Malformed> {
        if !self.input[self.at..].starts_with(literal) {
            return Err(Malformed);
        }
        self.at += literal.len();
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        let count = self.input[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        self.at += count;
        if count == 0 { Err(Malformed) } else { Ok(()) }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.byte() {
            self.at += 1;
        }
    }
}

/// Bytes at which plain text ends: the quote, a backslash and control characters.
static STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        stops[byte] = true;
        byte += 1;
    }
    stops[b'"' as usize] = true;
    stops[b'\\' as usize] = true;
    stops
};
