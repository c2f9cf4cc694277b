//! JSON, byte for byte as Go's `encoding/json` writes it and with the errors of its reader: tokens and trees. Objects are read
//! and written without a tree in between, by `planesmith-machinery`.

mod findings;
mod indent;
mod lane;
mod lanes;
mod name;
mod path;
mod reader;
mod scan;
mod syntax;
mod text;
mod type_meta;
mod unescape;
mod value;

pub use findings::Findings;
pub use indent::Indenter;
pub use name::Name;
pub use reader::{Malformed, Next, Reader};
pub use scan::Scan;
pub use text::{write_double, write_int, write_str};
pub use type_meta::type_meta;
pub use unescape::lossy;
pub use value::{
    MAX_FIELDS_DEPTH, MAX_TREE_DEPTH, encode_value, name_of, parse_value, parse_value_within, parse_written,
    parse_written_lossy, read_tree,
};

use std::ops::Range;

/// The treatment of fields that the type does not have and of duplicate fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Drop the former and let the last of the latter win.
    Lenient,
    /// The same, and report them; at most 100.
    Strict,
}

/// The reason why a document could not be read. The messages are kube-apiserver's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The input is not JSON, or nested too deep.
    #[error("{0}")]
    Syntax(String),
    /// The input is JSON that does not fit the type.
    #[error("{0}")]
    Type(String),
}

/// Appends compact, valid JSON indented by two spaces per level, as `?pretty=1` requests; without a final newline.
pub fn indent(compact: &[u8], out: &mut Vec<u8>) {
    Indenter::default().push(compact, out);
}

/// The place of the value of the member `name` in the JSON of an object; `None` when there is none, or when the JSON is laid out
/// in another way than this crate writes it. Looks no further than to the end of the member.
#[must_use]
pub fn place_of(json: &[u8], name: &str) -> Option<Range<usize>> {
    let mut scan = Scan::new(json);
    let mut more = scan.enter(b'{', b'}')?;
    while more {
        // Names of members have no escapes, keys may have some.
        let (key, is_plain) = scan.key()?;
        let is_it = is_plain && key == name.as_bytes();
        let value = scan.value()?;
        if is_it {
            return Some(scan.at() - value.len()..scan.at());
        }
        more = scan.another(b'}')?;
    }
    None
}

/// Appends one JSON value without white space, with `<`, `>` and `&` escaped.
///
/// # Errors
///
/// [`DecodeError::Syntax`] when `json` is not one JSON value; nothing is appended then.
pub fn compact(json: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    indent::write_compact(out, json).map_err(|_| syntax_error(json))
}

/// The depth to which arrays and objects are nested in one valid JSON value.
#[must_use]
pub fn depth(json: &[u8]) -> usize {
    let (mut open, mut deepest, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' if !in_text => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Appends elements as a JSON array.
pub fn encode_array<T>(elements: impl IntoIterator<Item = T>, out: &mut Vec<u8>, write: impl Fn(T, &mut Vec<u8>)) {
    out.push(b'[');
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

/// Appends entries as a JSON object, in their order.
pub fn encode_object<'k, T>(
    entries: impl IntoIterator<Item = (&'k str, T)>,
    out: &mut Vec<u8>,
    write: impl Fn(T, &mut Vec<u8>),
) {
    out.push(b'{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        encode_text(key, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// Appends `text` as JSON text, quoted and escaped.
#[inline]
pub fn encode_text(text: &str, out: &mut Vec<u8>) {
    text::write_str(out, text);
}

/// Checks that a text is JSON.
///
/// # Errors
///
/// The first mistake, in the words of Go.
pub fn check_syntax(input: &[u8]) -> Result<(), String> {
    syntax::explain(input).map_or(Ok(()), Err)
}

/// The error for malformed input, in the words of Go.
#[cold]
#[must_use]
pub fn syntax_error(input: &[u8]) -> DecodeError {
    // A document that the machine accepts was refused for its depth: typed values nest less deep than untyped ones.
    let message = syntax::explain(input).unwrap_or_else(|| "invalid character '{' exceeded max depth".to_owned());
    DecodeError::Syntax(message)
}

#[cfg(test)]
mod tests;
