//! The JSON of stored objects, and the answers that consist of it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use planesmith_machinery::json;
use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::protobuf::Transcoder;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::Entry;
use serde_json::value::RawValue;

use super::{Custom, Declared};

/// The start of an object as an item of a list.
#[derive(Clone, Debug)]
pub(crate) struct ItemStart {
    /// The first bytes of every object that its encoder wrote; items do not have them.
    pub(crate) omitted: Vec<u8>,
    /// The text in their place.
    pub(crate) text: &'static str,
}

/// Finds the value of `metadata` in the JSON of an object.
pub(crate) type MetadataPlace = fn(&[u8]) -> ApiResult<Range<usize>>;

/// The layout of the objects of a kind in JSON.
pub(crate) trait Layout {
    /// The start of an object of `kind` as an item of a list.
    fn item_start(&self, kind: &ResourceFacts) -> ItemStart;

    /// The compact JSON before and behind the items of a list of `kind`.
    fn around_items(&self, kind: &ResourceFacts, meta: &ListMeta) -> (Vec<u8>, Vec<u8>);

    /// The entries that are read before an answer with them begins, because that may be an error: those that do not have the
    /// start that the encoder of the storage version writes.
    fn unusual<'e>(&self, entries: &'e [Arc<Entry>], usual: &ItemStart) -> Vec<&'e Arc<Entry>>;

    /// The parts of the stored JSON of an object that its table row is made of.
    fn printed_part<'j>(&self, json: &'j [u8]) -> Cow<'j, [u8]>;

    /// Finds the metadata in stored JSON; `None` if objects of `kind` show other metadata alone than within the whole.
    fn metadata_place(&self, kind: &ResourceFacts) -> Option<MetadataPlace>;

    /// The conversion of stored JSON to protobuf messages of `kind`; `None` if objects have to be decoded for that.
    fn transcoder(&self, kind: &ResourceFacts) -> Option<Transcoder>;
}

/// Fields are in the order of the type. Items of lists do not name their kind.
impl Layout for Declared {
    fn item_start(&self, kind: &ResourceFacts) -> ItemStart {
        ItemStart {
            omitted: first_bytes(kind),
            text: "{",
        }
    }

    fn around_items(&self, kind: &ResourceFacts, meta: &ListMeta) -> (Vec<u8>, Vec<u8>) {
        (list_head(&kind.list_kind, &kind.api_version, meta), b"]}".to_vec())
    }

    fn unusual<'e>(&self, entries: &'e [Arc<Entry>], usual: &ItemStart) -> Vec<&'e Arc<Entry>> {
        let is_usual = |entry: &Entry| entry.is_readable() && entry.starts_with(&usual.omitted);
        entries.iter().filter(|entry| !is_usual(entry)).collect()
    }

    /// All but the managed fields, which are often half of an object.
    fn printed_part<'j>(&self, json: &'j [u8]) -> Cow<'j, [u8]> {
        without_managers(json)
    }

    fn metadata_place(&self, kind: &ResourceFacts) -> Option<MetadataPlace> {
        let hidden = kind.hub().extensions.hidden_annotations;
        hidden.is_empty().then_some(place_of_metadata)
    }

    fn transcoder(&self, kind: &ResourceFacts) -> Option<Transcoder> {
        kind.is_hub().then(|| Transcoder::new(kind.fields()))
    }
}

/// Objects are written as trees: all keys are sorted, and items of lists are whole objects. They may be stored in any of
/// their versions.
impl Layout for Custom {
    fn item_start(&self, _: &ResourceFacts) -> ItemStart {
        ItemStart {
            omitted: Vec::new(),
            text: "",
        }
    }

    /// An empty continue token is included.
    fn around_items(&self, kind: &ResourceFacts, meta: &ListMeta) -> (Vec<u8>, Vec<u8>) {
        let mut head = b"{\"apiVersion\":".to_vec();
        json::encode_text(&kind.api_version, &mut head);
        head.extend_from_slice(b",\"items\":[");
        let mut tail = b"],\"kind\":".to_vec();
        json::encode_text(&kind.list_kind, &mut tail);
        tail.extend_from_slice(b",\"metadata\":");
        let mut metadata = json::to_value(meta);
        metadata["continue"] = meta.r#continue.as_str().into();
        json::encode_value(&metadata, &mut tail);
        tail.push(b'}');
        (head, tail)
    }

    fn unusual<'e>(&self, _: &'e [Arc<Entry>], _: &ItemStart) -> Vec<&'e Arc<Entry>> {
        Vec::new()
    }

    fn printed_part<'j>(&self, json: &'j [u8]) -> Cow<'j, [u8]> {
        Cow::Borrowed(json)
    }

    fn metadata_place(&self, _: &ResourceFacts) -> Option<MetadataPlace> {
        // Metadata alone is that of a type, in the order of its fields.
        None
    }

    fn transcoder(&self, _: &ResourceFacts) -> Option<Transcoder> {
        None
    }
}

/// The compact JSON of a list before its items.
pub(crate) fn list_head(kind: &str, api_version: &str, meta: &ListMeta) -> Vec<u8> {
    let mut head = Vec::with_capacity(256);
    head.extend_from_slice(b"{\"kind\":");
    json::encode_text(kind, &mut head);
    head.extend_from_slice(b",\"apiVersion\":");
    json::encode_text(api_version, &mut head);
    head.extend_from_slice(b",\"metadata\":");
    json::encode(meta, &mut head);
    head.extend_from_slice(b",\"items\":[");
    head
}

/// The first bytes of an object of `kind`, as the encoder of its type writes it.
fn first_bytes(kind: &ResourceFacts) -> Vec<u8> {
    let mut bytes = vec![b'{'];
    for (name, value) in [("kind", &kind.kind), ("apiVersion", &kind.api_version)] {
        json::encode_text(name, &mut bytes);
        bytes.push(b':');
        json::encode_text(value, &mut bytes);
        bytes.push(b',');
    }
    bytes
}

/// The JSON of an object without its managed fields.
fn without_managers(json: &[u8]) -> Cow<'_, [u8]> {
    const NAME: &str = "managedFields";
    let place = json::place_of(json, "metadata").and_then(|metadata| {
        let managers = json::place_of(&json[metadata.clone()], NAME)?;
        // With the quotes and the colon of its key, and the comma in front, behind other members.
        let key = metadata.start + managers.start - NAME.len() - 3;
        (json.get(key - 1) == Some(&b',')).then_some(key - 1..metadata.start + managers.end)
    });
    match place {
        Some(place) => Cow::Owned([&json[..place.start], &json[place.end..]].concat()),
        None => Cow::Borrowed(json),
    }
}

/// The place of the value of `metadata` in the JSON of an object.
pub(crate) fn place_of_metadata(json: &[u8]) -> ApiResult<Range<usize>> {
    if let Some(place) = json::place_of(json, "metadata") {
        return Ok(place);
    }
    #[derive(serde::Deserialize)]
    struct Pieces<'b> {
        #[serde(borrow)]
        metadata: &'b RawValue,
    }
    let pieces: Pieces<'_> =
        serde_json::from_slice(json).map_err(|_| ApiError::internal("unable to read the stored object"))?;
    let value = pieces.metadata.get();
    let start = value.as_ptr() as usize - json.as_ptr() as usize;
    Ok(start..start + value.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_printed_without_their_managers() {
        for (json, bare) in [
            (
                r#"{"kind":"A","metadata":{"name":"a","managedFields":[{"f":{"a]}":{}}}]},"data":1}"#,
                r#"{"kind":"A","metadata":{"name":"a"},"data":1}"#,
            ),
            (
                r#"{"metadata":{"name":"a","managedFields":[],"x":1}}"#,
                r#"{"metadata":{"name":"a","x":1}}"#,
            ),
            // Metadata that consists of managed fields alone stays as it is.
            (
                r#"{"metadata":{"managedFields":[]}}"#,
                r#"{"metadata":{"managedFields":[]}}"#,
            ),
            (r#"{"data":{"managedFields":[]}}"#, r#"{"data":{"managedFields":[]}}"#),
            ("{}", "{}"),
        ] {
            assert_eq!(without_managers(json.as_bytes()), bare.as_bytes());
        }
    }
}
