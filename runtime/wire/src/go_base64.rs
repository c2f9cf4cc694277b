//! Base64 as Go reads it: bits behind the last byte do not count, and line breaks are passed over.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD, PAD};

/// Without padding, with `-` and `_`: Go's `base64.RawURLEncoding`, but for line breaks.
pub const RAW_URL: GeneralPurpose = engine(&alphabet::URL_SAFE, NO_PAD);

const STANDARD: GeneralPurpose = engine(&alphabet::STANDARD, PAD);
const URL: GeneralPurpose = engine(&alphabet::URL_SAFE, PAD);

const fn engine(alphabet: &alphabet::Alphabet, padding: GeneralPurposeConfig) -> GeneralPurpose {
    GeneralPurpose::new(alphabet, padding.with_decode_allow_trailing_bits(true))
}

/// The bytes that text with `+`, `/` and padding stands for: Go's `base64.StdEncoding`.
///
/// # Errors
///
/// The position of the first invalid byte, in the words of Go.
pub fn decode(text: &str) -> Result<Vec<u8>, String> {
    decode_with(&STANDARD, b"+/", text)
}

/// As [`decode`] with `-` and `_`: Go's `base64.URLEncoding`.
///
/// # Errors
///
/// As [`decode`].
pub fn decode_url(text: &str) -> Result<Vec<u8>, String> {
    decode_with(&URL, b"-_", text)
}

fn decode_with(engine: &GeneralPurpose, signs: &[u8], text: &str) -> Result<Vec<u8>, String> {
    let text = if text.contains(['\r', '\n']) {
        Cow::Owned(text.replace(['\r', '\n'], ""))
    } else {
        Cow::Borrowed(text)
    };
    let position = |_| {
        let position = error_position(text.as_bytes(), signs);
        format!("illegal base64 data at input byte {position}")
    };
    engine.decode(text.as_bytes()).map_err(position)
}

/// The position at which Go's decoder refuses a text (without line breaks): the first byte that it cannot use, or the last
/// group when padding is missing.
fn error_position(text: &[u8], signs: &[u8]) -> usize {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || signs.contains(byte);
    let Some(first_odd) = text.iter().position(|byte| !is_letter(byte)) else {
        // Only padding is missing: Go points at the start of the unfinished group.
        return text.len() - text.len() % 4;
    };
    if text[first_odd] != b'=' || first_odd % 4 < 2 {
        return first_odd;
    }
    // Padding in its place: the mistake is in what follows it.
    let padding = 4 - first_odd % 4;
    if padding == 2 && text.get(first_odd + 1) != Some(&b'=') {
        return if first_odd + 1 == text.len() {
            text.len()
        } else {
            first_odd + 1
        };
    }
    first_odd + padding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_behind_the_last_byte_do_not_count() {
        assert_eq!(decode("aa=="), Ok(b"i".to_vec()));
        assert_eq!(decode("YW\nI="), Ok(b"ab".to_vec()));
        assert_eq!(decode_url("_x=="), Ok(vec![0xFF]));
        assert_eq!(RAW_URL.decode("_x"), Ok(vec![0xFF]));
        assert!(decode("aQ").is_err(), "padding is missing");
        assert!(RAW_URL.decode("aQ==").is_err(), "padding is too much");
    }

    #[test]
    fn errors_point_where_go_points() {
        let cases = [
            ("***", 0),
            ("AAE", 0),
            ("_-8=", 0),
            ("AAAAAAE", 4),
            ("AA=A", 3),
            ("AA=", 3),
            ("AAAA=", 4),
            ("AAE=A", 4),
        ];
        for (text, expected) in cases {
            assert_eq!(error_position(text.as_bytes(), b"+/"), expected, "{text}");
        }
        assert_eq!(
            decode_url("A+8="),
            Err("illegal base64 data at input byte 1".to_owned())
        );
    }
}
