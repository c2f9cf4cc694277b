//! The OpenAPI documents of other servers.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde_json::{Map, Value, json};

const DEFINITIONS: &str = "#/definitions/";

/// Extracts the paths at and below `path` from a version 2 document, with the definitions they need; `None` if the document is
/// invalid.
pub(crate) fn part_of_v2(document: &[u8], path: &str) -> Option<Bytes> {
    let document: Value = serde_json::from_slice(document).ok()?;
    let all_paths = document.get("paths")?.as_object()?;
    let below = format!("{path}/");
    let paths = all_paths
        .iter()
        .filter(|(name, _)| *name == path || name.starts_with(&below));
    let paths: Map<String, Value> = paths.map(|(name, value)| (name.clone(), value.clone())).collect();
    let nothing = Map::new();
    let all = document
        .get("definitions")
        .and_then(Value::as_object)
        .unwrap_or(&nothing);
    let mut needed = BTreeSet::new();
    for value in paths.values() {
        follow(value, all, &mut needed);
    }
    // A kind without a path still needs its definition, for `kubectl explain`.
    let group_version = path.rsplit('/').take(2).collect::<Vec<_>>();
    for (name, definition) in all {
        if is_of(definition, &group_version) && needed.insert(name) {
            follow(definition, all, &mut needed);
        }
    }
    let definitions: Map<String, Value> = needed
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), all.get(name)?.clone())))
        .collect();
    Some(json!({"paths": paths, "definitions": definitions}).to_string().into())
}

/// True if `bytes` is a version 3 document.
pub(crate) fn is_document(bytes: &[u8]) -> bool {
    let document: Option<Value> = serde_json::from_slice(bytes).ok();
    document.is_some_and(|document| document.get("paths").is_some() || document.get("components").is_some())
}

/// True if a definition is a kind of the group version, given as version and group.
fn is_of(definition: &Value, group_version: &[&str]) -> bool {
    let kinds = definition
        .get("x-kubernetes-group-version-kind")
        .and_then(Value::as_array);
    kinds.into_iter().flatten().any(|kind| {
        let is = |field: &str, wanted: Option<&&str>| kind.get(field).and_then(Value::as_str) == wanted.copied();
        is("version", group_version.first()) && is("group", group_version.get(1))
    })
}

/// Adds the names of all definitions that `value` refers to, directly or indirectly.
fn follow<'d>(value: &'d Value, all: &'d Map<String, Value>, needed: &mut BTreeSet<&'d str>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let name = members.get("$ref").and_then(Value::as_str);
                if let Some(name) = name.and_then(|name| name.strip_prefix(DEFINITIONS))
                    && needed.insert(name)
                {
                    open.extend(all.get(name));
                }
                open.extend(members.values());
            }
            Value::Array(elements) => open.extend(elements),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_paths_and_what_they_need() {
        let document = json!({
            "swagger": "2.0",
            "paths": {
                "/apis/a.example/v1/": {},
                "/apis/a.example/v1/carts": {"get": {"schema": {"$ref": "#/definitions/CartList"}}},
                "/apis/a.example/v10/carts": {"get": {"schema": {"$ref": "#/definitions/Other"}}},
            },
            "definitions": {
                "CartList": {"items": {"$ref": "#/definitions/Cart"}},
                "Cart": {"properties": {"next": {"$ref": "#/definitions/Cart"}}},
                "Other": {},
                "Unnamed": {"x-kubernetes-group-version-kind": [{"group": "a.example", "version": "v1", "kind": "U"}]},
            },
        });
        let part = part_of_v2(document.to_string().as_bytes(), "/apis/a.example/v1").expect("the document is one");
        let part: Value = serde_json::from_slice(&part).expect("the part is JSON");
        let names = |member: &str| {
            part[member]
                .as_object()
                .map(|map| map.keys().cloned().collect::<Vec<_>>())
        };
        assert_eq!(
            names("paths").unwrap_or_default(),
            ["/apis/a.example/v1/", "/apis/a.example/v1/carts"]
        );
        assert_eq!(
            names("definitions").unwrap_or_default(),
            ["Cart", "CartList", "Unnamed"]
        );
        assert!(part_of_v2(b"404 page not found\n", "/apis/a.example/v1").is_none());
    }
}
