//! A custom kind, for tests.

use std::sync::Arc;

use planesmith_machinery::resource::ResourceFacts;
use serde_json::{Value, json};

use crate::custom::{CustomKind, Unchecked};
use crate::structural::Structural;

/// Returns the versions v1 and v1beta1 of the kind Widget of example.com, whose schema has the keywords of `extra`, too.
#[must_use]
pub fn kind(extra: &Value) -> [&'static ResourceFacts; 2] {
    let mut schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "replicas": {"type": "integer", "default": 1},
            "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                      "items": {"type": "object", "properties": {
                          "name": {"type": "string"}, "size": {"type": "integer"}}}},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    if let (Value::Object(schema), Value::Object(extra)) = (&mut schema, extra.clone()) {
        schema.extend(extra);
    }
    let facts = |version, api_version| {
        CustomKind::leak(
            ResourceFacts {
                group: "example.com",
                version,
                api_version,
                kind: "Widget",
                list_kind: "WidgetList",
                plural: "widgets",
                ..CustomKind::FACTS
            },
            Arc::new(Structural::compile(&schema)),
            Arc::new(Unchecked),
        )
    };
    let versions = [facts("v1", "example.com/v1"), facts("v1beta1", "example.com/v1beta1")];
    CustomKind::join(&versions, versions[0]);
    versions
}
