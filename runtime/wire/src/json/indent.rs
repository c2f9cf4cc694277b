//! Compact and indented layouts of the same JSON.

use super::reader::{Malformed, Reader};

/// Indents compact JSON by two spaces per level, piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Indenter {
    depth: usize,
    /// The last byte opened an object or array, which may be empty.
    opened: bool,
}

impl Indenter {
    /// Appends the next piece of a document, indented. All pieces together have to be valid JSON without white space; none may end
    /// inside of a text. No newline follows the last one.
    pub fn push(&mut self, compact: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        while at < compact.len() {
            let byte = compact[at];
            let closes = matches!(byte, b'}' | b']');
            let opened = std::mem::replace(&mut self.opened, matches!(byte, b'{' | b'['));
            if opened && !closes {
                self.depth += 1;
                new_line(out, self.depth);
            }
            match byte {
                b'"' => {
                    let end = end_of_text(compact, at);
                    out.extend_from_slice(&compact[at..end]);
                    at = end;
                    continue;
                }
                b'}' | b']' => {
                    if !opened {
                        self.depth = self.depth.saturating_sub(1);
                        new_line(out, self.depth);
                    }
                    out.push(byte);
                }
                b',' => {
                    out.push(byte);
                    new_line(out, self.depth);
                }
                b':' => out.extend_from_slice(b": "),
                _ => out.push(byte),
            }
            at += 1;
        }
    }
}

fn new_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    for _ in 0..depth {
        out.extend_from_slice(b"  ");
    }
}

/// The index behind the closing quote of the text that starts at `start`.
fn end_of_text(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < json.len() {
        match json[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    json.len()
}

/// Appends one JSON value without white space and with the same escapes as written text.
///
/// Invalid UTF-8 inside text becomes U+FFFD, so that the result is always UTF-8.
pub(crate) fn write_compact(out: &mut Vec<u8>, json: &[u8]) -> Result<(), Malformed> {
    Reader::new(json).only_value()?;
    let mut at = 0;
    while at < json.len() {
        match json[at] {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b'"' => {
                let end = end_of_text(json, at);
                write_text(out, &json[at..end]);
                at = end;
            }
            byte => {
                out.push(byte);
                at += 1;
            }
        }
    }
    Ok(())
}

/// Copies quoted text; characters that are special only to HTML or JavaScript are escaped, existing escapes stay as they are.
fn write_text(out: &mut Vec<u8>, quoted: &[u8]) {
    for chunk in quoted.utf8_chunks() {
        for part in chunk.valid().split_inclusive(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let escape = match part.chars().next_back() {
                Some('<') => "\\u003c",
                Some('>') => "\\u003e",
                Some('&') => "\\u0026",
                Some('\u{2028}') => "\\u2028",
                Some('\u{2029}') => "\\u2029",
                _ => "",
            };
            let keep = if escape.is_empty() {
                part.len()
            } else {
                part.len() - part.chars().next_back().map_or(0, char::len_utf8)
            };
            out.extend_from_slice(&part.as_bytes()[..keep]);
            out.extend_from_slice(escape.as_bytes());
        }
        for _ in chunk.invalid() {
            out.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Indenter, write_compact};

    #[test]
    fn compacting_drops_spaces_and_escapes() {
        let mut out = Vec::new();
        write_compact(&mut out, " { \"a b\" : [ 1 , \"<\\n\u{2028}\\\" \" ] }\n".as_bytes()).expect("valid");
        assert_eq!(out, br#"{"a b":[1,"\u003c\n\u2028\" "]}"#);
    }

    #[test]
    fn indenting_follows_go() {
        let compact = br#"{"a":{},"b":[1,{"c":"x,y: {"}],"d":[]}"#;
        let expected =
            "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": \"x,y: {\"\n    }\n  ],\n  \"d\": []\n}";
        // Cut anywhere but in a text.
        for cut in [0, 1, 5, 6, 7, 8, 13, 14, 15, 16, compact.len()] {
            let (mut indenter, mut out) = (Indenter::default(), Vec::new());
            indenter.push(&compact[..cut], &mut out);
            indenter.push(&compact[cut..], &mut out);
            assert_eq!(String::from_utf8(out).expect("UTF-8"), expected, "{cut}");
        }
    }
}
