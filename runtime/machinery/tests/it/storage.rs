//! The form in which the store keeps objects.

use std::collections::BTreeMap;

use planesmith_machinery::Resource as DeriveResource;
use planesmith_machinery::json;
use planesmith_machinery::meta::ObjectMeta;

/// A kind.
#[derive(Clone, Debug, Default, PartialEq, DeriveResource)]
#[resource(group = "", version = "v1")]
struct ConfigMap {
    /// The metadata.
    #[field(proto = 1)]
    metadata: ObjectMeta,
    /// The content.
    #[field(proto = 2)]
    data: BTreeMap<String, String>,
}

#[test]
fn a_version_and_a_list_item_can_be_cut_from_stored_bytes() {
    let mut object = ConfigMap::default();
    object.metadata.name = "a".to_owned();
    object.metadata.resource_version = "stale".to_owned();
    object.metadata.generation = 2;
    object.data.insert("k".to_owned(), "v".to_owned());
    let encoded = json::encode_for_storage(&object);

    let mut stored = encoded.bytes.clone();
    stored.splice(encoded.gap..encoded.gap, *b"812");
    object.metadata.resource_version = "812".to_owned();
    assert_eq!(stored, json::to_vec(&object));

    let mut item = Vec::new();
    json::encode_item(&object, &mut item);
    let prefix = r#"{"kind":"ConfigMap","apiVersion":"v1","#;
    assert_eq!([b"{", &stored[prefix.len()..]].concat(), item);
}

#[test]
fn an_empty_object_has_a_place_for_its_version_too() {
    let encoded = json::encode_for_storage(&ConfigMap::default());
    let text = String::from_utf8(encoded.bytes).expect("JSON is UTF-8");
    assert_eq!(
        text,
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":""}}"#
    );
    assert_eq!(&text[encoded.gap..], r#""}}"#);
}
