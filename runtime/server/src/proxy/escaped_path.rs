//! Paths of URLs as Go reads and writes them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// Characters that Go escapes in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// Returns the bytes that the path of a URL means.
#[must_use]
pub fn decoded_path(path: &str) -> Vec<u8> {
    percent_decode_str(path).collect()
}

/// Returns the path of a URL that means `path`: only escapes that are necessary are left, so that a slash is always a slash.
#[must_use]
pub fn escaped_path(path: &[u8]) -> String {
    percent_encode(path, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_go() {
        for (sent, expected) in [
            ("/a/b", "/a/b"),
            ("/a%2Fb", "/a/b"),
            ("/a%20b%3a1", "/a%20b:1"),
            ("/a(b)!*'", "/a%28b%29%21%2A%27"),
            ("/%ff%3F", "/%FF%3F"),
        ] {
            assert_eq!(escaped_path(&decoded_path(sent)), expected, "{sent}");
        }
    }
}
