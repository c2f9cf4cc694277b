//! Bytes that JSON shows as base64 text.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};

use base64::Engine as _;

use crate::facts::TypeFacts;
use crate::go_base64;
use crate::value::{Shape, Slot, Value, View};

/// Bytes; base64 text in JSON, plain bytes in protobuf.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteString(pub Vec<u8>);

/// The contents are often secret, so only their length is shown.
impl fmt::Debug for ByteString {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ByteString({} bytes)", self.0.len())
    }
}

impl From<Vec<u8>> for ByteString {
    fn from(bytes: Vec<u8>) -> Self {
        ByteString(bytes)
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        ByteString(bytes.to_vec())
    }
}

impl Deref for ByteString {
    type Target = Vec<u8>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for ByteString {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Shape for ByteString {
    const TYPE: TypeFacts = TypeFacts::Bytes;
}

impl Value for ByteString {
    fn view(&self) -> View<'_> {
        View::Bytes(&self.0)
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Bytes(&mut self.0)
    }

    fn reset(&mut self) {
        self.0.clear();
    }
}

/// The bytes that base64 text stands for.
///
/// # Errors
///
/// Where it is none, in the words of Go.
pub(crate) fn from_base64(text: &str) -> Result<Vec<u8>, String> {
    // Go passes over line breaks inside base64.
    let text = if text.contains(['\r', '\n']) {
        Cow::Owned(text.replace(['\r', '\n'], ""))
    } else {
        Cow::Borrowed(text)
    };
    go_base64::STANDARD
        .decode(text.as_bytes())
        .map_err(|_| base64_error(&text))
}

/// The words for base64 (without line breaks) that does not decode: Go's decoder names the position of the first
/// byte it cannot use, or that of the last group when padding is missing.
fn base64_error(text: &str) -> String {
    format!(
        "illegal base64 data at input byte {}",
        base64_error_position(text.as_bytes())
    )
}

fn base64_error_position(text: &[u8]) -> usize {
    let alphabet = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let Some(first_odd) = text.iter().position(|byte| !alphabet(byte)) else {
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
    use super::{base64_error_position, from_base64};

    #[test]
    fn bits_behind_the_last_byte_do_not_count() {
        assert_eq!(from_base64("aa=="), Ok(b"i".to_vec()));
        assert_eq!(from_base64("YW\nI="), Ok(b"ab".to_vec()));
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
            assert_eq!(base64_error_position(text.as_bytes()), expected, "{text}");
        }
    }
}
