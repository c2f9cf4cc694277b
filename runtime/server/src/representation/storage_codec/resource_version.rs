//! The place of `metadata.resourceVersion`, which canonical bytes have and stored ones do not.

use planesmith_machinery::cbor;
use planesmith_machinery::json::{self, Encoded, Strictness};
use serde_json::Value as Tree;

const FIELD: &[u8] = b"\"resourceVersion\":\"";

/// Returns canonical JSON without the empty resourceVersion at `gap`.
pub(crate) fn without_gap(canonical: &[u8], gap: usize) -> Vec<u8> {
    let (head, tail) = canonical.split_at(gap);
    let head = head.strip_suffix(FIELD).unwrap_or(head);
    let tail = tail.strip_prefix(b"\"").unwrap_or(tail);
    // One of the two commas around the member goes with it.
    let (head, tail) = match (tail.strip_prefix(b","), head.strip_suffix(b",")) {
        (Some(tail), _) => (head, tail),
        (None, Some(head)) => (head, tail),
        (None, None) => (head, tail),
    };
    [head, tail].concat()
}

/// Returns a stored document, in JSON or in CBOR, with an empty resourceVersion in its metadata, and all keys sorted; `None` if it is
/// not an object with metadata.
pub(crate) fn with_gap(stored: &[u8]) -> Option<Encoded> {
    if stored.starts_with(&cbor::SELF_DESCRIBED) {
        return with_gap(&cbor::to_json(stored).ok()?);
    }
    let (tree, _) = json::parse_value(stored, Strictness::Lenient).ok()?;
    let Tree::Object(mut document) = tree else { return None };
    let Some(Tree::Object(metadata)) = document.remove("metadata") else {
        return None;
    };
    document.insert("metadata".to_owned(), Tree::Null);
    let (mut bytes, mut gap) = (Vec::with_capacity(stored.len() + 24), 0);
    bytes.push(b'{');
    for (name, value) in &document {
        json::encode_text(name, &mut bytes);
        bytes.push(b':');
        if name == "metadata" {
            gap = write_metadata(&metadata, &mut bytes);
        } else {
            json::encode_value(value, &mut bytes);
        }
        bytes.push(b',');
    }
    bytes.pop();
    bytes.push(b'}');
    Some(Encoded { bytes, gap })
}

/// Appends `metadata` with an empty resourceVersion; returns the offset of its digits.
fn write_metadata(metadata: &serde_json::Map<String, Tree>, bytes: &mut Vec<u8>) -> usize {
    let mut metadata = metadata.clone();
    metadata.insert("resourceVersion".to_owned(), Tree::Null);
    let mut gap = 0;
    bytes.push(b'{');
    for (name, value) in &metadata {
        if name == "resourceVersion" {
            bytes.extend_from_slice(FIELD);
            gap = bytes.len();
            bytes.push(b'"');
        } else {
            json::encode_text(name, bytes);
            bytes.push(b':');
            json::encode_value(value, bytes);
        }
        bytes.push(b',');
    }
    bytes.pop();
    bytes.push(b'}');
    gap
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resource_version_goes_and_comes_back_wherever_it_is() {
        for (stored, canonical) in [
            (
                r#"{"metadata":{"name":"a"}}"#,
                r#"{"metadata":{"name":"a","resourceVersion":""}}"#,
            ),
            (
                r#"{"metadata":{"uid":"1"}}"#,
                r#"{"metadata":{"resourceVersion":"","uid":"1"}}"#,
            ),
            (r#"{"metadata":{}}"#, r#"{"metadata":{"resourceVersion":""}}"#),
            (
                r#"{"a":1,"metadata":{"name":"a","uid":"1"},"z":[]}"#,
                r#"{"a":1,"metadata":{"name":"a","resourceVersion":"","uid":"1"},"z":[]}"#,
            ),
        ] {
            let read = with_gap(stored.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(&read.bytes), canonical);
            assert!(read.bytes[..read.gap].ends_with(FIELD) && read.bytes[read.gap] == b'"');
            assert_eq!(String::from_utf8_lossy(&without_gap(&read.bytes, read.gap)), stored);
        }
        for malformed in ["", "[]", "{}", r#"{"metadata":1}"#, "k8s\0"] {
            assert_eq!(with_gap(malformed.as_bytes()), None);
        }
    }
}
