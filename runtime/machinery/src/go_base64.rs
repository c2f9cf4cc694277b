//! Base64 as Go reads it: bits behind the last byte do not count.
//!
//! Go also passes over line breaks; who reads text that can have some takes them out before.

use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, PAD};

/// With `+`, `/` and padding: Go's `base64.StdEncoding`.
pub const STANDARD: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, PAD.with_decode_allow_trailing_bits(true));

/// With `-` and `_`, and without padding: Go's `base64.RawURLEncoding`.
pub const RAW_URL: GeneralPurpose =
    GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    #[test]
    fn bits_behind_the_last_byte_do_not_count() {
        assert_eq!(STANDARD.decode("aa=="), Ok(b"i".to_vec()));
        assert_eq!(RAW_URL.decode("_x"), Ok(vec![0xFF]));
        assert!(STANDARD.decode("aQ").is_err(), "padding is missing");
        assert!(RAW_URL.decode("aQ==").is_err(), "padding is too much");
    }
}
