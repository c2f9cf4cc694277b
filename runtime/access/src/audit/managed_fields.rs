//! Objects without their managed fields.

use planesmith_machinery::json;
use planesmith_machinery::json::Reader;

/// Returns an object, a list or a table in compact JSON without the managed fields of its objects; bytes that are no JSON object
/// are returned as they are.
#[must_use]
pub fn without_managed_fields(document: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(document.len());
    match copy_object(document, Holder::Document, &mut out) {
        Some(()) => out,
        None => document.to_vec(),
    }
}

/// The place of a JSON object, which determines what is left out of it.
#[derive(Clone, Copy)]
enum Holder {
    /// An object of the API, a list or a table.
    Document,
    /// `metadata`.
    Metadata,
    /// A row of a table.
    Row,
}

/// Copies the object that `input` is, and leaves managed fields out. `None` if it is no object.
fn copy_object(input: &[u8], holder: Holder, out: &mut Vec<u8>) -> Option<()> {
    let mut reader = Reader::new(input);
    if !matches!(reader.peek().ok()?, json::Next::Object) {
        return None;
    }
    out.push(b'{');
    let mut is_first = true;
    let mut more = reader.enter(b'}').ok()?;
    while more {
        let key = reader.key().ok()?;
        let value = reader.skip().ok()?;
        more = reader.another(b'}').ok()?;
        if matches!(holder, Holder::Metadata) && key == "managedFields" {
            continue;
        }
        if !std::mem::replace(&mut is_first, false) {
            out.push(b',');
        }
        json::encode_text(&key, out);
        out.push(b':');
        copy_member(holder, &key, value, out);
    }
    out.push(b'}');
    Some(())
}

fn copy_member(holder: Holder, key: &str, value: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let copied = match (holder, key) {
        (Holder::Document, "metadata") => copy_object(value, Holder::Metadata, out),
        (Holder::Document, "items") => copy_array(value, Holder::Document, out),
        (Holder::Document, "rows") => copy_array(value, Holder::Row, out),
        (Holder::Row, "object") => copy_object(value, Holder::Document, out),
        _ => None,
    };
    if copied.is_none() {
        out.truncate(start);
        out.extend_from_slice(value);
    }
}

fn copy_array(input: &[u8], holder: Holder, out: &mut Vec<u8>) -> Option<()> {
    let mut reader = Reader::new(input);
    if !matches!(reader.peek().ok()?, json::Next::Array) {
        return None;
    }
    out.push(b'[');
    let mut is_first = true;
    let mut more = reader.enter(b']').ok()?;
    while more {
        let element = reader.skip().ok()?;
        more = reader.another(b']').ok()?;
        if !std::mem::replace(&mut is_first, false) {
            out.push(b',');
        }
        let start = out.len();
        if copy_object(element, holder, out).is_none() {
            out.truncate(start);
            out.extend_from_slice(element);
        }
    }
    out.push(b']');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(document: &str, expected: &str) {
        let stripped = String::from_utf8(without_managed_fields(document.as_bytes())).unwrap();
        assert_eq!(stripped, expected, "{document}");
    }

    #[test]
    fn only_managed_fields_of_objects_are_left_out() {
        check(
            r#"{"kind":"A","metadata":{"managedFields":[{"manager":"m"}],"name":"a"},"data":{"managedFields":"x"}}"#,
            r#"{"kind":"A","metadata":{"name":"a"},"data":{"managedFields":"x"}}"#,
        );
        check(
            r#"{"metadata":{},"items":[{"metadata":{"name":"a","managedFields":[]}},{"metadata":{"uid":"u"}}]}"#,
            r#"{"metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"uid":"u"}}]}"#,
        );
        check(
            r#"{"rows":[{"cells":["a"],"object":{"metadata":{"managedFields":[]}}}]}"#,
            r#"{"rows":[{"cells":["a"],"object":{"metadata":{}}}]}"#,
        );
    }

    #[test]
    fn other_documents_stay_as_they_are() {
        for document in ["[]", "\"text\"", "{\"metadata\":null,\"items\":{}}", "{broken"] {
            check(document, document);
        }
    }
}
