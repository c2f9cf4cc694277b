//! Blocks of PEM as Go reads them: text around them is ignored, and so is a block that is damaged.

use crate::go_base64;

/// The label of certificates.
pub const CERTIFICATE: &str = "CERTIFICATE";

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// A block of PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The type of the contents, such as `CERTIFICATE`.
    pub label: String,
    /// True if there are lines of the form `KEY: VALUE` in front of the contents.
    pub has_headers: bool,
    /// The decoded contents.
    pub contents: Vec<u8>,
}

/// Returns the readable blocks of `text`.
pub fn blocks(text: &[u8]) -> impl Iterator<Item = Block> {
    let mut lines = text.split(|byte| *byte == b'\n');
    std::iter::from_fn(move || {
        let mut open: Option<Open<'_>> = None;
        for line in lines.by_ref() {
            let line = line.trim_ascii_end();
            if let Some(rest) = line.strip_prefix(BEGIN) {
                // A block that has no end does not hide the next one.
                open = rest.strip_suffix(DASHES).map(Open::new);
            } else if let Some(rest) = line.strip_prefix(END) {
                let label = rest.strip_suffix(DASHES);
                let ended = open.take().filter(|open| Some(open.label) == label);
                if let Some(block) = ended.and_then(Open::decode) {
                    return Some(block);
                }
            } else if let Some(open) = &mut open {
                open.add(line);
            }
        }
        None
    })
}

/// Returns the contents of the readable blocks with this label.
pub fn contents(text: &[u8], label: &str) -> impl Iterator<Item = Vec<u8>> {
    blocks(text)
        .filter(move |block| block.label == label)
        .map(|block| block.contents)
}

/// Returns the contents of the first readable block if it has this label.
#[must_use]
pub fn first(text: &[u8], label: &str) -> Option<Vec<u8>> {
    let block = blocks(text).next()?;
    (block.label == label).then_some(block.contents)
}

/// A block whose end was not read yet.
struct Open<'a> {
    label: &'a [u8],
    /// True until the first line that is not a header.
    in_headers: bool,
    has_headers: bool,
    base64: Vec<u8>,
}

impl<'a> Open<'a> {
    fn new(label: &'a [u8]) -> Self {
        Self {
            label,
            in_headers: true,
            has_headers: false,
            base64: Vec::new(),
        }
    }

    fn add(&mut self, line: &[u8]) {
        if self.in_headers && line.contains(&b':') {
            self.has_headers = true;
        } else {
            self.in_headers = false;
            self.base64.extend(line.iter().filter(|byte| !b" \t".contains(byte)));
        }
    }

    fn decode(self) -> Option<Block> {
        let base64 = str::from_utf8(&self.base64).ok()?;
        Some(Block {
            label: str::from_utf8(self.label).ok()?.to_owned(),
            has_headers: self.has_headers,
            contents: go_base64::decode(base64).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(text: &str) -> Vec<String> {
        blocks(text.as_bytes()).map(|block| block.label).collect()
    }

    #[test]
    fn text_around_blocks_is_ignored() {
        let text = "about\r\n-----BEGIN A B-----\r\nA AEC\r\n\tAw==\r\n-----END A B-----  \r\nrest\n-----BEGIN C-----\n-----END C-----";
        let blocks: Vec<Block> = blocks(text.as_bytes()).collect();
        let block = |label: &str, contents: &[u8]| Block {
            label: label.to_owned(),
            has_headers: false,
            contents: contents.to_owned(),
        };
        assert_eq!(blocks, [block("A B", &[0, 1, 2, 3]), block("C", &[])]);
        assert_eq!(first(text.as_bytes(), "A B"), Some(vec![0, 1, 2, 3]));
        assert_eq!(first(text.as_bytes(), "C"), None);
        assert!(contents(text.as_bytes(), "C").eq([Vec::<u8>::new()]));
    }

    #[test]
    fn headers_are_read_over() {
        for blank in ["", "\n"] {
            let text = format!("-----BEGIN K-----\nProc-Type: 4,ENCRYPTED\nX: y\n{blank}AAEC\n-----END K-----\n");
            let block = blocks(text.as_bytes()).next().unwrap();
            assert!(block.has_headers && block.contents == [0, 1, 2], "{block:?}");
        }
    }

    #[test]
    fn damaged_blocks_hide_no_others() {
        let good = "-----BEGIN GOOD-----\nAAEC\n-----END GOOD-----\n";
        for damaged in [
            "-----BEGIN BAD-----\nAAEC\n",
            "-----BEGIN BAD-----\nAAEC\n-----END OTHER-----\n",
            "-----BEGIN BAD-----\nA*EC\n-----END BAD-----\n",
            "-----BEGIN BAD-----\nAAE\n-----END BAD-----\n",
            "-----BEGIN BAD\nAAEC\n-----END BAD-----\n",
            " -----BEGIN BAD-----\nAAEC\n-----END BAD-----\n",
            "-----BEGIN BAD-----\nAAEC-----END BAD-----\n",
            "-----END BAD-----\n",
        ] {
            assert_eq!(labels(&format!("{good}{damaged}{good}")), ["GOOD", "GOOD"], "{damaged}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(-----(BEGIN|END) [A-B]?-----|[:A=\n]){0,40}") {
            blocks(text.as_bytes()).for_each(drop);
        }
    }
}
