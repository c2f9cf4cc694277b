//! The regular expressions of names, written as loops over bytes.

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
pub(super) fn is_label(text: &[u8]) -> bool {
    bounded(text, is_lower_or_digit, |byte| is_lower_or_digit(byte) || byte == b'-')
}

/// `[a-z0-9]([-_a-z0-9]*[a-z0-9])?`
pub(super) fn is_label_with_underscores(text: &[u8]) -> bool {
    let inner = |byte: u8| is_lower_or_digit(byte) || matches!(byte, b'-' | b'_');
    bounded(text, is_lower_or_digit, inner)
}

/// `[a-z]([-a-z0-9]*[a-z0-9])?`
pub(super) fn is_label_starting_with_letter(text: &[u8]) -> bool {
    is_label(text) && text[0].is_ascii_lowercase()
}

/// Labels joined by dots.
pub(super) fn is_subdomain(text: &str) -> bool {
    text.as_bytes().split(|byte| *byte == b'.').all(is_label)
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
pub(super) fn is_qualified_part(text: &[u8]) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    bounded(text, |byte| byte.is_ascii_alphanumeric(), inner)
}

fn is_lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// True if `text` starts and ends with an `outer` byte and has only `inner` ones between.
fn bounded(text: &[u8], outer: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    match text {
        [] => false,
        [only] => outer(*only),
        [first, middle @ .., last] => outer(*first) && outer(*last) && middle.iter().all(|byte| inner(*byte)),
    }
}
