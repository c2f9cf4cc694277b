//! JSON text and numbers as Go's `encoding/json` writes them.

use std::io::Write as _;

/// For each byte: 0 = copied, 1 = escaped, 2 = may start U+2028 or U+2029.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        class[byte] = 1;
        byte += 1;
    }
    class[b'"' as usize] = 1;
    class[b'\\' as usize] = 1;
    class[b'<' as usize] = 1;
    class[b'>' as usize] = 1;
    class[b'&' as usize] = 1;
    class[0xE2] = 2;
    class
};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends `text` in quotes; `<`, `>`, `&`, U+2028 and U+2029 are escaped so that the result is safe inside HTML and
/// JavaScript.
#[inline]
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// Appends the text between the quotes.
fn write_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    if is_plain(bytes) {
        return out.extend_from_slice(bytes);
    }
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = next_special(bytes, at) {
        at = found;
        let byte = bytes[at];
        if byte == 0xE2 {
            let separator = matches!(bytes.get(at + 1..at + 3), Some([0x80, 0xA8 | 0xA9]));
            if !separator {
                at += 1;
                continue;
            }
            out.extend_from_slice(&bytes[done..at]);
            out.extend_from_slice(b"\\u202");
            out.push(HEX[usize::from(bytes[at + 2] & 0xF)]);
            at += 3;
        } else {
            out.extend_from_slice(&bytes[done..at]);
            write_escape(out, byte);
            at += 1;
        }
        done = at;
    }
    out.extend_from_slice(&bytes[done..]);
}

/// Bytes that are classified together.
const BLOCK: usize = 16;

/// True if all bytes are surely copied, as in most texts.
fn is_plain(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk::<BLOCK>() {
        // The last block overlaps the one before.
        let (blocks, _) = bytes.as_chunks::<BLOCK>();
        return blocks.iter().chain([last]).all(is_plain_block);
    }
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) => is_plain_block(first) && is_plain_block(last),
        _ => bytes.iter().all(|byte| CLASS[usize::from(*byte)] == 0),
    }
}

/// True if all bytes of a block are copied. The compiler turns this into a few vector instructions.
fn is_plain_block<const N: usize>(block: &[u8; N]) -> bool {
    let special = |byte: u8| u8::from(byte < 0x20) | u8::from(byte == 0xE2) | special_mark(byte);
    block.iter().fold(0, |found, byte| found | special(*byte)) == 0
}

/// Returns the place of the first byte from `at` on that may not be copied.
fn next_special(bytes: &[u8], mut at: usize) -> Option<usize> {
    while bytes[at..].first_chunk::<BLOCK>().is_some_and(is_plain_block) {
        at += BLOCK;
    }
    let rest = bytes.get(at..)?;
    let offset = rest.iter().position(|byte| CLASS[usize::from(*byte)] != 0)?;
    Some(at + offset)
}

/// 1 for the printable characters that are escaped.
fn special_mark(byte: u8) -> u8 {
    u8::from(byte == b'"')
        | u8::from(byte == b'\\')
        | u8::from(byte == b'<')
        | u8::from(byte == b'>')
        | u8::from(byte == b'&')
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x0C => out.extend_from_slice(b"\\f"),
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 0xF)]);
        }
    }
}

/// Appends the digits of an integer.
#[inline]
pub fn write_int(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends the shortest text that reads back as `value`: with an exponent below 1e-6 and from 1e21 on.
///
/// JSON has no infinities; as nothing that was decoded can hold one, they become `null`.
pub fn write_double(out: &mut Vec<u8>, value: f64) {
    let size = value.abs();
    let written = if !value.is_finite() {
        write!(out, "null")
    } else if size != 0.0 && size < 1e-6 {
        write!(out, "{value:e}")
    } else if size >= 1e21 {
        let text = format!("{value:e}");
        write!(out, "{}", text.replace('e', "e+"))
    } else {
        write!(out, "{value}")
    };
    written.expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::{write_double, write_int, write_str};

    fn text(input: &str) -> String {
        let mut out = Vec::new();
        write_str(&mut out, input);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn text_is_escaped_as_go_does() {
        assert_eq!(text("plain"), r#""plain""#);
        assert_eq!(
            text("\"\\\n\r\t\u{8}\u{c}\u{0}\u{1f}\u{7f}"),
            "\"\\\"\\\\\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}\""
        );
        assert_eq!(text("<a> & b"), r#""\u003ca\u003e \u0026 b""#);
        assert_eq!(text("\u{2028}x\u{2029}\u{2030}â"), "\"\\u2028x\\u2029\u{2030}â\"");
    }

    #[test]
    fn characters_are_escaped_at_any_place_of_a_long_text() {
        for (special, escaped) in [
            ("\"", "\\\""),
            ("<", "\\u003c"),
            ("\u{2028}", "\\u2028"),
            ("\u{1}", "\\u0001"),
            ("é", "é"),
        ] {
            for place in 0..40 {
                let (before, after) = ("x".repeat(place), "y".repeat(40 - place));
                let expected = format!("\"{before}{escaped}{after}{escaped}\"");
                assert_eq!(text(&format!("{before}{special}{after}{special}")), expected);
            }
        }
    }

    #[test]
    fn numbers_are_written_as_go_does() {
        let double = |value: f64| {
            let mut out = Vec::new();
            write_double(&mut out, value);
            String::from_utf8(out).expect("digits")
        };
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.5e300, "-1.5e+300"),
            (0.000001, "0.000001"),
            (1e-7, "1e-7"),
            (f64::NAN, "null"),
        ];
        for (value, expected) in cases {
            assert_eq!(double(value), expected);
        }
        for value in [0, 7, -1, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            write_int(&mut out, value);
            assert_eq!(String::from_utf8(out).expect("digits"), value.to_string());
        }
    }
}
