//! Bytes as hexadecimal digits.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns two lowercase digits for each byte.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 0xf)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_two_lowercase_digits() {
        assert_eq!(encode(&[0x00, 0x0a, 0xff, 0x51]), "000aff51");
        assert_eq!(encode(&[]), "");
    }
}
