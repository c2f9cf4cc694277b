//! Documents adapted to the program's features; they are generated with Kubernetes' defaults.

use std::time::SystemTime;

use bytes::Bytes;
use planesmith_machinery::feature::Features;
use serde_json::{Map, Value};

use super::Source;
use super::document::{OpenApiDocument, Packed};
use crate::features::{CBOR_SERVING_AND_STORAGE, OPENAPI_ENUMS};

/// Media types that CBOR adds: each pair is a media type, and the one added beside it.
const CBOR: [(&str, &str); 3] = [
    ("application/vnd.kubernetes.protobuf", "application/cbor"),
    ("application/apply-patch+yaml", "application/apply-patch+cbor"),
    ("application/json;stream=watch", "application/cbor-seq"),
];

/// The program's document at `path`, as clients of a server with `features` receive it; it changed at `changed`.
pub(super) fn declared(path: &str, json: &'static [u8], features: &Features, changed: SystemTime) -> OpenApiDocument {
    let enums = features.has(&OPENAPI_ENUMS);
    // Documents that are not about a group version list the older encodings only.
    let is_version = path.starts_with("api/") || path.matches('/').count() == 2 && path.starts_with("apis/");
    let cbor = is_version && features.has(&CBOR_SERVING_AND_STORAGE);
    let packed = Packed::read(json);
    if enums && !cbor {
        return match packed {
            Some(packed) => OpenApiDocument::packed(packed, changed),
            None => OpenApiDocument::new(Source::Ready(Bytes::from_static(json)), changed),
        };
    }
    let adapted = Source::lazy(move || {
        let text = packed.as_ref().map_or(Bytes::from_static(json), Packed::unpack);
        let Ok(mut document) = serde_json::from_slice(&text) else {
            return text;
        };
        if !enums {
            drop_enums(&mut document);
        }
        if cbor {
            add_cbor(&mut document);
        }
        document.to_string().into()
    });
    OpenApiDocument::new(adapted, changed)
}

/// Removes the values of enumerations.
fn drop_enums(value: &mut Value) {
    match value {
        Value::Object(members) => {
            // A property may have this name, too; its value is a schema, and not a list.
            members.retain(|name, member| name != "enum" || !member.is_array());
            members.values_mut().for_each(drop_enums);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_enums),
        _ => {}
    }
}

/// Adds the media types of CBOR to those of requests and answers.
fn add_cbor(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), &mut *member) {
                    ("produces" | "consumes", Value::Array(types)) => add_types(types),
                    ("content", Value::Object(content)) => add_content(content),
                    _ => add_cbor(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(add_cbor),
        _ => {}
    }
}

fn add_types(types: &mut Vec<Value>) {
    for (beside, added) in CBOR {
        let Some(at) = types.iter().position(|known| known == beside) else {
            continue;
        };
        let at = if added.ends_with("-seq") { types.len() } else { at + 1 };
        types.insert(at, added.into());
    }
}

fn add_content(content: &mut Map<String, Value>) {
    for (beside, added) in CBOR {
        if let Some(schema) = content.get(beside).cloned() {
            content.insert(added.to_owned(), schema);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_lists_of_values_go() {
        let mut document = json!({
            "a": {"enum": ["x"], "type": "string"},
            "properties": {"enum": {"items": {"enum": [1]}}},
        });
        drop_enums(&mut document);
        assert_eq!(
            document,
            json!({"a": {"type": "string"}, "properties": {"enum": {"items": {}}}})
        );
    }

    #[test]
    fn cbor_stands_behind_protobuf_and_its_streams_last() {
        let (json, pb, cbor) = (
            "application/json",
            "application/vnd.kubernetes.protobuf",
            "application/cbor",
        );
        let mut document = json!({
            "produces": [json, pb, "application/json;stream=watch"],
            "consumes": ["application/apply-patch+yaml"],
            "200": {"content": {json: 1, pb: 2}},
        });
        add_cbor(&mut document);
        let expected = json!({
            "produces": [json, pb, cbor, "application/json;stream=watch", "application/cbor-seq"],
            "consumes": ["application/apply-patch+yaml", "application/apply-patch+cbor"],
            "200": {"content": {json: 1, pb: 2, cbor: 2}},
        });
        assert_eq!(document, expected);
    }
}
