//! Formats of texts that are numbers.

fn digit(byte: u8) -> u32 {
    u32::from(byte.wrapping_sub(b'0'))
}

fn all_digits(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// A book's number without spaces and dashes.
fn without_separators(text: &str) -> Vec<u8> {
    let is_gap = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | 0xc | b'\r' | b'-');
    text.bytes().filter(|byte| !is_gap(*byte)).collect()
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let bytes = without_separators(text);
    let [digits @ .., last] = &bytes[..] else { return false };
    if digits.len() != 9 || !all_digits(digits) || !(last.is_ascii_digit() || *last == b'X') {
        return false;
    }
    let last = if *last == b'X' { 10 } else { digit(*last) };
    let weighed = (1..).zip(digits).map(|(weight, byte)| weight * digit(*byte));
    (weighed.sum::<u32>() + 10 * last).is_multiple_of(11)
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let bytes = without_separators(text);
    if bytes.len() != 13 || !all_digits(&bytes) {
        return false;
    }
    let weighed = bytes.iter().zip([1, 3].into_iter().cycle());
    let sum: u32 = weighed.map(|(byte, weight)| weight * digit(*byte)).sum();
    sum.is_multiple_of(10)
}

pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).collect();
    if !has_card_shape(&digits) {
        return false;
    }
    let luhn = |(index, byte): (usize, &u8)| match (index % 2, digit(*byte)) {
        (0, digit) => digit,
        (_, digit) => (2 * digit) % 10 + (2 * digit) / 10,
    };
    digits
        .iter()
        .rev()
        .enumerate()
        .map(luhn)
        .sum::<u32>()
        .is_multiple_of(10)
}

/// True if a number starts like one of an issuer and is as long.
fn has_card_shape(digits: &[u8]) -> bool {
    matches!(
        (digits, digits.len()),
        ([b'4', ..], 13 | 16)
            | ([b'5', b'1'..=b'5', ..], 16)
            | ([b'6', b'0', b'1', b'1', ..], 16)
            | ([b'6', b'5', ..], 16)
            | ([b'3', b'4' | b'7', ..], 15)
            | ([b'3', b'6' | b'8', ..], 14)
            | ([b'3', b'0', b'0'..=b'5', ..], 14)
            | ([b'2', b'1', b'3', b'1', ..] | [b'1', b'8', b'0', b'0', ..], 15)
            | ([b'3', b'5', ..], 16)
    )
}

/// Eleven characters: three, two and four digits with dashes or spaces between them.
pub(super) fn is_social_security_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(index, byte)| match index {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

/// `rgb(1, 2, 3)` with numbers up to 255.
pub(super) fn is_rgb_color(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    let is_part = |part: &str| {
        let part = part.trim_matches([' ', '\t', '\n', '\u{c}', '\r']);
        let is_number = !part.is_empty() && all_digits(part.as_bytes()) && (part == "0" || !part.starts_with('0'));
        is_number && part.parse::<u8>().is_ok()
    };
    let parts: Vec<&str> = inner.split(',').collect();
    parts.len() == 3 && parts.into_iter().all(is_part)
}
