//! Compact and indented layouts of the same JSON.

use super::reader::{Malformed, Reader};

/// Appends `compact` (which must be valid and without white space) indented by two spaces per level, without a final
/// newline.
pub(crate) fn write_indented(out: &mut Vec<u8>, compact: &[u8]) {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < compact.len() {
        let byte = compact[at];
        match byte {
            b'"' => {
                let end = end_of_text(compact, at);
                out.extend_from_slice(&compact[at..end]);
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.push(byte);
                if let Some(close @ (b'}' | b']')) = compact.get(at + 1) {
                    out.push(*close);
                    at += 1;
                } else {
                    depth += 1;
                    new_line(out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                new_line(out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(byte),
        }
        at += 1;
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

/// Copies quoted text; what only HTML or JavaScript minds is escaped, existing escapes stay as they are.
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
    use super::{write_compact, write_indented};

    #[test]
    fn compacting_drops_spaces_and_escapes() {
        let mut out = Vec::new();
        write_compact(&mut out, " { \"a b\" : [ 1 , \"<\\n\u{2028}\\\" \" ] }\n".as_bytes()).expect("valid");
        assert_eq!(out, br#"{"a b":[1,"\u003c\n\u2028\" "]}"#);
    }

    #[test]
    fn indenting_follows_go() {
        let mut out = Vec::new();
        write_indented(&mut out, br#"{"a":{},"b":[1,{"c":"x,y: {"}],"d":[]}"#);
        let expected =
            "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": \"x,y: {\"\n    }\n  ],\n  \"d\": []\n}";
        assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
    }
}
