//! Lists that are encoded while they are sent.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http::Request;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::{ListMeta, PartialObjectMetadata};
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::value::Struct;
use planesmith_machinery::{cbor, protobuf, yaml};
use planesmith_store::{EncodingId, Entry, ListQuery};

use crate::harness::{NOTES, SHELVES, Server, with_feature};
use crate::kinds::Note;

const TABLE: &str = "as=Table;v=v1;g=meta.k8s.io";
const METADATA: &str = "as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

/// The streamed answer, true if its size is known, and the number of its pieces.
async fn streamed(server: &Server, accept: &str, path: &str) -> (Vec<u8>, bool, usize) {
    let request = Request::builder().uri(path).header("accept", accept);
    let (response, _) = server.open(request.body(Body::empty()).expect("legal")).await;
    assert_eq!(response.status(), 200, "{accept} {path}");
    let mut body = response.into_body();
    let announced = body.size_hint().exact();
    let (mut whole, mut pieces) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let piece: Bytes = frame.expect("it does not break off").into_data().expect("data");
        assert!(piece.len() <= 2 << 20, "{accept}: a piece of {} bytes", piece.len());
        whole.extend_from_slice(&piece);
        pieces += 1;
    }
    assert!(
        announced.is_none_or(|announced| announced == whole.len() as u64),
        "{accept}"
    );
    (whole, announced.is_some(), pieces)
}

/// A server with sites that also serves CBOR.
async fn with_cbor() -> Server {
    let mut server = Server::with_places().await;
    server.features = with_feature("CBORServingAndStorage");
    server
}

/// A server with notes of about `bytes` bytes in all.
async fn with_notes(bytes: usize) -> Server {
    let server = with_cbor().await;
    let text = "a text <with> \\\"quotes\\\" and:\\n- lines\\n  of its own ".repeat(300);
    for number in 0..bytes.div_ceil(text.len()) {
        let body = format!(
            r#"{{"metadata":{{"name":"n{number}","labels":{{"apiVersion":"x"}}}},"data":{{"a":"{text}","n":"{number}"}}}}"#
        );
        server.create(NOTES, &body).await;
    }
    server
}

fn in_cbor(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    cbor::from_json(json, &mut out).expect("JSON");
    out
}

fn in_yaml(json: &[u8]) -> Vec<u8> {
    yaml::from_json(json).expect("JSON")
}

fn indented(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    json::indent(json, &mut out);
    out
}

fn with_newline(json: &[u8]) -> Vec<u8> {
    [json, b"\n"].concat()
}

/// Compares a list in all encodings that are derived from JSON with the encodings of the whole list.
async fn check_text(server: &Server, parameters: &str, path: &str, compact: &[u8], is_large: bool) {
    type Make = fn(&[u8]) -> Vec<u8>;
    let forms: [(&str, &str, Make); 4] = [
        ("application/json", "", with_newline),
        ("application/json", "pretty=true", indented),
        ("application/yaml", "", in_yaml),
        ("application/cbor", "", in_cbor),
    ];
    for (media_type, query, make) in forms {
        let accept = format!("{media_type};{parameters}");
        let accept = accept.trim_end_matches(';');
        let separator = if path.contains('?') { '&' } else { '?' };
        let (sent, is_sized, pieces) = streamed(server, accept, &format!("{path}{separator}{query}")).await;
        assert!(sent == make(compact), "{accept} {path} {query}");
        let is_stored = (accept, query) == ("application/json", "");
        assert_eq!(is_sized, !is_large || is_stored, "{accept} {query}");
        assert_eq!(pieces > 1, is_large, "{accept} {query}");
    }
}

/// The JSON of a list, without the newline.
async fn compact(server: &Server, accept: &str, path: &str) -> Vec<u8> {
    let (mut json, _, _) = streamed(server, accept, path).await;
    assert_eq!(json.pop(), Some(b'\n'));
    let parsed: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert!(parsed["kind"].is_string());
    json
}

#[tokio::test]
async fn lists_are_the_same_in_pieces_and_whole() {
    let server = with_notes(2_500_000).await;
    let (small, large) = (format!("{NOTES}?limit=2"), NOTES.to_owned());
    for (path, is_large) in [(small, false), (large, true)] {
        let objects = compact(&server, "application/json", &path).await;
        check_text(&server, "", &path, &objects, is_large).await;
        let tables = format!("application/json;{TABLE}");
        let with_objects = format!("{path}{}includeObject=Object", if is_large { '?' } else { '&' });
        let table = compact(&server, &tables, &with_objects).await;
        let rows: serde_json::Value = serde_json::from_slice(&table).expect("JSON");
        let items: serde_json::Value = serde_json::from_slice(&objects).expect("JSON");
        let (rows, items) = (
            rows["rows"].as_array().expect("rows"),
            items["items"].as_array().expect("items"),
        );
        assert_eq!(rows.len(), items.len());
        assert!(
            rows.iter()
                .zip(items)
                .all(|(row, item)| row["object"]["data"] == item["data"])
        );
    }
}

#[tokio::test]
async fn tables_and_metadata_are_the_same_in_pieces_and_whole() {
    let server = with_cbor().await;
    // Their rows have no ages, which would change meanwhile.
    let note = "b".repeat(3_000);
    for number in 0..120 {
        let body = format!(r#"{{"metadata":{{"name":"s{number}","annotations":{{"note":"{note}"}}}}}}"#);
        server.create(SHELVES, &body).await;
    }
    for (path, is_large) in [(format!("{SHELVES}?limit=2"), false), (SHELVES.to_owned(), true)] {
        for parameters in [TABLE, METADATA] {
            let json = compact(&server, &format!("application/json;{parameters}"), &path).await;
            check_text(&server, parameters, &path, &json, is_large).await;
        }
        let old = METADATA.replace("v=v1;", "v=v1beta1;");
        let new = compact(&server, &format!("application/json;{METADATA}"), &path).await;
        let beta = compact(&server, &format!("application/json;{old}"), &path).await;
        let renamed = String::from_utf8(new)
            .expect("text")
            .replace("meta.k8s.io/v1", "meta.k8s.io/v1beta1");
        assert!(String::from_utf8(beta).expect("text") == renamed);
    }
}

#[tokio::test]
async fn messages_are_the_same_in_pieces_and_whole() {
    // The second is longer than the part that is stored while the list is measured.
    for bytes in [20_000, 2_500_000] {
        let server = with_notes(bytes).await;
        let list = compact(&server, "application/json", NOTES).await;
        let list: serde_json::Value = serde_json::from_slice(&list).expect("JSON");
        let meta = ListMeta {
            resource_version: list["metadata"]["resourceVersion"].as_str().expect("text").to_owned(),
            ..ListMeta::default()
        };
        let notes: Vec<Note> = list["items"].as_array().expect("items").iter().map(note).collect();
        let metadata = notes.iter().map(|note| PartialObjectMetadata {
            metadata: note.metadata.clone(),
        });
        let metadata: Vec<_> = metadata.collect();
        let whole = |api_version: &str, kind: &str, items: Vec<&dyn Struct>| {
            let mut whole = Vec::new();
            protobuf::wrap(api_version, kind, &mut whole, |out| {
                protobuf::encode_list(&meta, items, out)
            });
            whole
        };
        let objects = whole("v1", "NoteList", notes.iter().map(|note| note as &dyn Struct).collect());
        let metadata = metadata.iter().map(|metadata| metadata as &dyn Struct).collect();
        let metadata = whole("meta.k8s.io/v1", "PartialObjectMetadataList", metadata);
        let media_type = "application/vnd.kubernetes.protobuf";
        for (accept, expected) in [
            (media_type.to_owned(), objects),
            (format!("{media_type};{METADATA}"), metadata),
        ] {
            // Once encoded, and once from the cached encodings of a small list.
            for _ in 0..2 {
                let (sent, is_sized, pieces) = streamed(&server, &accept, NOTES).await;
                assert!(sent == expected, "{accept}");
                assert!(is_sized, "it says how long it is");
                assert_eq!(pieces > 1, expected.len() > 200_000, "{accept}");
            }
        }
    }
}

fn note(item: &serde_json::Value) -> Note {
    let mut note = Note::default();
    json::decode(item.to_string().as_bytes(), &mut note, Strictness::Lenient).expect("a note");
    note
}

#[tokio::test]
async fn lists_without_items_have_the_form_of_others() {
    let server = with_cbor().await;
    for (parameters, end) in [
        ("", "\"items\":[]}"),
        (TABLE, "\"rows\":[]}"),
        (METADATA, "\"items\":null}"),
    ] {
        let accept = format!("application/json;{parameters}");
        let list = compact(&server, accept.trim_end_matches(';'), SHELVES).await;
        assert!(list.ends_with(end.as_bytes()), "{}", String::from_utf8_lossy(&list));
        check_text(&server, parameters, SHELVES, &list, false).await;
    }
}

#[tokio::test]
async fn large_lists_keep_no_encodings() {
    let server = with_notes(400_000).await;
    let store = server.stores.resource(Note::RESOURCE);
    let entries = store.collection().list(&ListQuery::all(store.collection().prefix()));
    let entries = entries.expect("the newest state").entries;
    let has_kept = |entry: &Arc<Entry>| (0..4096).any(|number| entry.cached_encoding(EncodingId(number)).is_some());
    let kept = || entries.iter().filter(|entry| has_kept(entry)).count();
    let protobuf = "application/vnd.kubernetes.protobuf".to_owned();
    let forms = [protobuf.clone(), format!("{protobuf};{METADATA}")];
    for (path, expected) in [
        (NOTES.to_owned(), 0),
        (format!("{NOTES}?limit=2"), 2),
        (NOTES.to_owned(), 2),
    ] {
        for accept in &forms {
            streamed(&server, accept, &path).await;
        }
        assert_eq!(kept(), expected, "{path}");
    }
}
