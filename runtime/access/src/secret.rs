//! Comparison of secrets.

use std::hint::black_box;

/// True if `left` and `right` are equal. The time depends on their lengths only, so that it reveals nothing about a guess.
#[must_use]
pub fn equals(left: &[u8], right: &[u8]) -> bool {
    let difference = left
        .iter()
        .zip(right)
        .fold(0, |difference, (left, right)| black_box(difference | (left ^ right)));
    left.len() == right.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_equal_in_each_byte() {
        assert!(equals(b"", b"") && equals(b"secret", b"secret"));
        for other in ["", "secre", "secrets", "Secret", "secreT"] {
            assert!(!equals(b"secret", other.as_bytes()), "{other}");
        }
    }
}
