//! Objects of any kind between canonical bytes and those that kube-apiserver stores.

use planesmith_api_defs::core::v1::{ConfigMap, Secret};
use planesmith_machinery::scheme::Scheme;
use planesmith_server::stores::{RegistryCodec, StorageMediaType};

fn codec() -> RegistryCodec {
    let mut scheme = Scheme::new();
    scheme.add::<ConfigMap>();
    scheme.add::<Secret>();
    scheme.set_storage_media_type(StorageMediaType::Protobuf);
    RegistryCodec::new(&scheme)
}

const MAP: &str = "/registry/configmaps/default/a";
const CANONICAL: &str = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":"17"},"data":{"k":"v"}}"#;

fn gap(json: &str) -> usize {
    json.find("\"17\"").expect("the object has the revision 17") + 1
}

#[test]
fn objects_of_declared_kinds_change_their_encoding_and_come_back() {
    let codec = codec();
    let stored = codec
        .encode(MAP, CANONICAL.as_bytes(), Some(gap(CANONICAL)), 2)
        .unwrap();
    assert!(stored.starts_with(b"k8s\0"));
    let back = codec.decode(MAP, &stored);
    assert_eq!(back.gap, Some(gap(CANONICAL)));
    assert_eq!(String::from_utf8(back.bytes).unwrap(), CANONICAL.replace("17", ""));
    assert!(codec.is_legible(MAP, &stored) && codec.is_legible(MAP, CANONICAL.as_bytes()));
}

#[test]
fn documents_of_unknown_kinds_lose_and_get_their_revision() {
    let codec = codec();
    let key = "/registry/example.com/racks/a";
    let canonical = r#"{"apiVersion":"example.com/v1","kind":"Rack","metadata":{"name":"a","resourceVersion":"17"}}"#;
    let stored = codec
        .encode(key, canonical.as_bytes(), Some(gap(canonical)), 2)
        .unwrap();
    let expected = "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Rack\",\"metadata\":{\"name\":\"a\"}}\n";
    assert_eq!(String::from_utf8(stored.clone()).unwrap(), expected);
    let back = codec.decode(key, &stored);
    assert_eq!(String::from_utf8(back.bytes).unwrap(), canonical.replace("17", ""));
}

#[test]
fn bytes_that_are_no_object_stay_as_they_are() {
    let codec = codec();
    for (key, is_legible) in [(MAP, false), ("/registry/ranges/servicenodeports", true)] {
        let read = codec.decode(key, b"k8s\0?");
        assert_eq!(
            (&*read.bytes, read.gap, read.is_legible),
            (&b"k8s\0?"[..], None, is_legible)
        );
        assert_eq!(codec.encode(key, &read.bytes, None, 2).unwrap(), b"k8s\0?");
    }
    assert!(!codec.is_legible(MAP, b"k8s\0?"));
}
