//! YAML 1.1 as kube-apiserver reads and writes it: by way of JSON.

mod graph;
mod key_order;
mod node;
mod nodes;
mod preamble;
mod problem;
mod resolve;
mod style;
mod writer;

use serde_json::Value;

use crate::json::{self, Strictness};

const NEXT_LINE: char = '\u{85}';

/// The reason why a document could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct YamlError {
    text: String,
    /// The reason without the part of the document that `text` quotes; `None` if it quotes none.
    unquoted: Option<&'static str>,
}

impl YamlError {
    fn new(text: String) -> Self {
        Self { text, unquoted: None }
    }

    fn quoting(text: String, unquoted: &'static str) -> Self {
        Self {
            text,
            unquoted: Some(unquoted),
        }
    }

    /// The reason without any part of the document, for documents with secrets.
    #[must_use]
    pub fn unquoted(&self) -> &str {
        self.unquoted.unwrap_or(&self.text)
    }
}

/// A YAML document as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The same document as compact JSON, keys sorted; of keys that stand twice the last one wins.
    pub json: Vec<u8>,
    /// Keys that stand twice, e.g. `line 4: key "a" already set in map`; at most 100. For
    /// [`json::Findings::add_yaml`].
    pub duplicates: Vec<String>,
}

/// Reads the first document of `input`; none at all is `null`.
///
/// `y`, `yes`, `on` and their opposites are truth values, keys included; numbers may be octal, hexadecimal or binary.
/// Anchors and merge keys work, within limits: a document cannot grow out of proportion through aliases.
///
/// # Errors
///
/// When the input is not YAML, nested deeper than 512, grows through aliases, or cannot be said in JSON.
pub fn to_json(input: &[u8]) -> Result<Document, YamlError> {
    let text = str::from_utf8(input).map_err(|_| YamlError::new("yaml: invalid leading UTF-8 octet".to_owned()))?;
    preamble::check(text)?;
    // A next line is a line break in YAML 1.1, and no longer in the version that the parser knows.
    let nodes = match text.contains(NEXT_LINE) {
        true => node::parse(&text.replace(NEXT_LINE, "\n"))?,
        false => node::parse(text)?,
    };
    let (tree, duplicates) = graph::resolve(&nodes)?;
    let mut json = Vec::with_capacity(input.len());
    json::encode_value(&tree, &mut json);
    Ok(Document { json, duplicates })
}

/// Writes a JSON document as YAML: block style, keys in natural order, long lines folded, with a final newline.
///
/// # Errors
///
/// When `json` is not a JSON document.
pub fn from_json(json: &[u8]) -> Result<Vec<u8>, json::DecodeError> {
    let (tree, _) = json::parse_value(json, Strictness::Lenient)?;
    Ok(writer::write(&tree).into_bytes())
}

/// Appends `tree` as go-yaml 3 writes a node without a style: block style with four columns a level, keys in their order, no
/// line folded, with a final newline.
pub fn write_node(tree: &Value, out: &mut String) {
    nodes::write(tree, out);
}

/// Stands for the items of a list while what is around them is written.
const ITEMS: &str = "items-of-the-list";

/// Returns the YAML before and behind the items of a list that is not empty. The JSON of the list is `head`, which ends with
/// the bracket that opens the array of a top-level member, the items, and `tail`.
///
/// # Errors
///
/// When both together are not a JSON document.
pub fn around_items(head: &[u8], tail: &[u8]) -> Result<(Vec<u8>, Vec<u8>), json::DecodeError> {
    let item = format!("\"{ITEMS}\"");
    let whole = from_json(&[head, item.as_bytes(), tail].concat())?;
    let line = format!("\n- {ITEMS}\n");
    let place = whole.windows(line.len()).position(|part| part == line.as_bytes());
    // A sequence under a key is written so.
    let place = place.ok_or_else(|| json::DecodeError::Syntax("the array has no place of its own".to_owned()))?;
    Ok((whole[..=place].to_vec(), whole[place + line.len()..].to_vec()))
}

/// Appends an item of a list, between what [`around_items`] returns.
///
/// # Errors
///
/// When `json` is not a JSON document.
pub fn item_from_json(json: &[u8], out: &mut Vec<u8>) -> Result<(), json::DecodeError> {
    let (tree, _) = json::parse_value(json, Strictness::Lenient)?;
    out.extend_from_slice(writer::write_item(&tree).as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests;
