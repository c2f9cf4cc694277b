//! The objects of answers in JSON, with the fields in the order of their types.

use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::{ListMeta, PartialObjectMetadata, PartialObjectMetadataList, Status, TypeMeta};
use planesmith_machinery::protobuf;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::value::Struct;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The types of answers that no scheme has.
fn metadata_type(of: &TypeMeta) -> Option<Box<dyn Struct>> {
    match (of.api_version.as_str(), of.kind.as_str()) {
        ("v1", "Status") => Some(Box::<Status>::default()),
        (_, "PartialObjectMetadata") => Some(Box::<PartialObjectMetadata>::default()),
        (_, "PartialObjectMetadataList") => Some(Box::<PartialObjectMetadataList>::default()),
        _ => None,
    }
}

/// Returns the object or list that a message of protobuf is; `None` for a type that is not declared.
pub(super) fn of_message(scheme: &Scheme, of: &TypeMeta, message: &[u8]) -> Option<Vec<u8>> {
    let read = |message: &[u8], target: &mut dyn Struct| protobuf::decode(message, target).ok();
    object(scheme, of, message, read).or_else(|| {
        let (metadata, items) = protobuf::list_parts(message).ok()?;
        list(scheme, of, metadata, &items, read)
    })
}

/// Returns the object or list that a document is, whatever the order of its fields; `None` for a type that is not declared.
pub(super) fn of_document(scheme: &Scheme, of: &TypeMeta, document: &[u8]) -> Option<Vec<u8>> {
    let read = |json: &[u8], target: &mut dyn Struct| json::decode(json, target, Strictness::Lenient).ok().map(|_| ());
    object(scheme, of, document, read).or_else(|| {
        let SentList { metadata, items } = serde_json::from_slice(document).ok()?;
        let items: Vec<&[u8]> = items.iter().map(|item| item.get().as_bytes()).collect();
        list(scheme, of, metadata.get().as_bytes(), &items, read)
    })
}

/// A list in a document.
#[derive(Deserialize)]
struct SentList<'d> {
    #[serde(borrow)]
    metadata: &'d RawValue,
    #[serde(borrow)]
    items: Vec<&'d RawValue>,
}

fn object(
    scheme: &Scheme,
    of: &TypeMeta,
    bytes: &[u8],
    read: impl Fn(&[u8], &mut dyn Struct) -> Option<()>,
) -> Option<Vec<u8>> {
    if let Some(mut target) = metadata_type(of) {
        read(bytes, &mut *target)?;
        return Some(json::to_vec(&*target));
    }
    let mut object = scheme.object_kind(&of.api_version, &of.kind)?.zero();
    read(bytes, &mut *object)?;
    Some(json::to_vec(&*object))
}

fn list(
    scheme: &Scheme,
    of: &TypeMeta,
    metadata: &[u8],
    items: &[&[u8]],
    read: impl Fn(&[u8], &mut dyn Struct) -> Option<()>,
) -> Option<Vec<u8>> {
    let kind = scheme.object_kind(&of.api_version, of.kind.strip_suffix("List")?)?;
    let mut out = br#"{"kind":"#.to_vec();
    json::encode_text(&of.kind, &mut out);
    out.extend_from_slice(br#","apiVersion":"#);
    json::encode_text(&of.api_version, &mut out);
    out.extend_from_slice(br#","metadata":"#);
    let mut list_meta = ListMeta::default();
    read(metadata, &mut list_meta)?;
    out.extend_from_slice(&json::to_vec(&list_meta));
    out.extend_from_slice(br#","items":["#);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let mut object = kind.zero();
        read(item, &mut *object)?;
        json::encode_item(&*object, &mut out);
    }
    out.extend_from_slice(b"]}");
    Some(out)
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::yaml;

    use super::*;

    #[test]
    fn documents_get_the_order_of_their_types() {
        let of = |kind: &str, document: &[u8]| {
            let of = TypeMeta {
                api_version: "v1".to_owned(),
                kind: kind.to_owned(),
            };
            let object = of_document(&Scheme::new(), &of, &yaml::to_json(document).unwrap().json);
            object.map(|object| String::from_utf8(object).unwrap())
        };
        let status = b"apiVersion: v1\ncode: 404\nkind: Status\nmetadata: {}\nstatus: Failure\n";
        assert_eq!(
            of("Status", status).as_deref(),
            Some(r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":404}"#)
        );
        assert_eq!(of("ThingList", b"items: []\nmetadata: {}\n"), None);
    }
}
