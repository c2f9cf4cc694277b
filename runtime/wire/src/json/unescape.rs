//! Escapes inside JSON text.

use std::borrow::Cow;

use super::reader::Malformed;

/// Checks what follows each backslash.
pub(super) fn check_escapes(raw: &[u8]) -> Result<(), Malformed> {
    let mut rest = raw.iter();
    while let Some(byte) = rest.next() {
        if *byte != b'\\' {
            continue;
        }
        match rest.next() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
            Some(b'u') => {
                for _ in 0..4 {
                    if !rest.next().is_some_and(u8::is_ascii_hexdigit) {
                        return Err(Malformed);
                    }
                }
            }
            _ => return Err(Malformed),
        }
    }
    Ok(())
}

/// The characters of text with escapes; bytes that are not UTF-8 and lone surrogates become U+FFFD.
#[cold]
pub(super) fn unescape(raw: &[u8]) -> Result<String, Malformed> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(escape) = rest.iter().position(|byte| *byte == b'\\') {
        push_lossy(&mut text, &rest[..escape]);
        let kind = rest.get(escape + 1).ok_or(Malformed)?;
        rest = &rest[escape + 2..];
        match kind {
            b'"' | b'\\' | b'/' => text.push(char::from(*kind)),
            b'b' => text.push('\u{8}'),
            b'f' => text.push('\u{c}'),
            b'n' => text.push('\n'),
            b'r' => text.push('\r'),
            b't' => text.push('\t'),
            b'u' => {
                let (character, used) = unicode_escape(rest)?;
                text.push(character);
                rest = &rest[used..];
            }
            _ => return Err(Malformed),
        }
    }
    push_lossy(&mut text, rest);
    Ok(text)
}

/// The character of the escape whose digits `rest` starts with, and how many bytes it takes. A pair of surrogates is
/// one character; one without its partner is U+FFFD.
fn unicode_escape(rest: &[u8]) -> Result<(char, usize), Malformed> {
    let first = hex(rest).ok_or(Malformed)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 4));
    }
    let second = if rest.get(4..6) == Some(b"\\u") {
        rest.get(6..).and_then(hex)
    } else {
        None
    };
    match second {
        Some(low @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            Ok((char::from_u32(code).ok_or(Malformed)?, 10))
        }
        _ => Ok((char::REPLACEMENT_CHARACTER, 4)),
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digits = digits.get(..4)?;
    digits
        .iter()
        .try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
}

/// `bytes` as text; each byte that is not part of valid UTF-8 becomes one U+FFFD, as in Go.
#[must_use]
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    push_lossy(&mut text, bytes);
    Cow::Owned(text)
}

/// Appends `bytes`; each byte that is not part of valid UTF-8 becomes one U+FFFD, as in Go.
fn push_lossy(text: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
