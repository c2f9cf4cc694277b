//! A custom kind, for tests.

use std::borrow::Cow;
use std::sync::Arc;

use planesmith_machinery::resource::{ResourceFacts, ResourceTable};
use serde_json::{Value, json};

use crate::custom::{CustomKind, CustomVersion, Unchecked};
use crate::structural::Structural;

/// Returns the versions v1 and v1beta1 of the kind Widget of example.com, whose schema has the keywords of `extra`, too.
#[must_use]
pub fn kind(extra: &Value) -> [ResourceFacts; 2] {
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
    let version = |version, api_version| CustomVersion {
        table: ResourceTable {
            group: Cow::Borrowed("example.com"),
            version: Cow::Borrowed(version),
            api_version: Cow::Borrowed(api_version),
            kind: Cow::Borrowed("Widget"),
            list_kind: Cow::Borrowed("WidgetList"),
            plural: Cow::Borrowed("widgets"),
            ..CustomKind::FACTS
        },
        schema: Arc::new(Structural::compile(&schema)),
        checks: Arc::new(Unchecked),
    };
    let versions = vec![
        version("v1", "example.com/v1"),
        version("v1beta1", "example.com/v1beta1"),
    ];
    let versions: Result<[ResourceFacts; 2], _> = CustomKind::define(versions, 0, None).try_into();
    versions.expect("two versions")
}
