//! The written form of custom objects.

use std::borrow::Cow;
use std::sync::Arc;

use planesmith_machinery::json::{Strictness, encode_for_storage, to_vec};
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceTable;
use planesmith_wire::raw::FieldsV1;
use planesmith_wire::time::Time;
use serde_json::json;

use super::super::{CustomKind, CustomVersion, Unchecked, decode};
use crate::structural::Structural;

/// An object of a kind that is defined while serving, with fields that sort around its own.
fn object() -> Box<dyn Object> {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "data": {"type": "string"}}});
    let version = CustomVersion {
        table: ResourceTable {
            group: Cow::Borrowed("ex.com"),
            version: Cow::Borrowed("v1"),
            api_version: Cow::Borrowed("ex.com/v1"),
            kind: Cow::Borrowed("Foo"),
            ..CustomKind::FACTS
        },
        schema: Arc::new(Structural::compile(&schema)),
        checks: Arc::new(Unchecked),
    };
    let mut object = CustomKind::define(vec![version], 0, None)[0].zero();
    let json = br#"{"kind":"Foo","apiVersion":"ex.com/v1","zeta":1,"Alpha":2,"spec":{"b":[{"z":1,"a":null}],"a":1},"data":"d"}"#;
    decode(json, &mut *object, Strictness::Lenient).expect("an object");
    let meta = object.meta_mut();
    meta.name = "one".to_owned();
    meta.labels.insert("l".to_owned(), "v".to_owned());
    meta.managed_fields = vec![ManagedFieldsEntry {
        manager: "m".to_owned(),
        operation: "Update".to_owned(),
        api_version: "ex.com/v1".to_owned(),
        time: Some(Time::from_second(1_700_000_000)),
        fields_type: "FieldsV1".to_owned(),
        fields_v1: FieldsV1::new(br#"{"f:spec":{"k:{\"port\":80}":{},"k:{\"port\":443}":{}}}"#).ok(),
        subresource: String::new(),
    }];
    object
}

const TEXT: &str = concat!(
    r#"{"Alpha":2,"apiVersion":"ex.com/v1","data":"d","kind":"Foo","metadata":{"labels":{"l":"v"},"managedFields":["#,
    r#"{"apiVersion":"ex.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"k:{\"port\":443}":{},"k:{\"port\":80}":{}}},"#,
    r#""manager":"m","operation":"Update","time":"2023-11-14T22:13:20Z"}],"name":"one"},"#,
    r#""spec":{"a":1,"b":[{"a":null,"z":1}]},"zeta":1}"#,
);

#[test]
fn all_keys_of_a_tree_are_in_order() {
    assert_eq!(String::from_utf8(to_vec(&*object())).expect("text"), TEXT);
}

#[test]
fn a_stored_object_has_a_place_for_its_version() {
    let encoded = encode_for_storage(&*object());
    let mut stored = encoded.bytes;
    stored.splice(encoded.gap..encoded.gap, *b"812");
    let expected = TEXT.replace(r#""name":"one"}"#, r#""name":"one","resourceVersion":"812"}"#);
    assert_eq!(String::from_utf8(stored).expect("text"), expected);
}
