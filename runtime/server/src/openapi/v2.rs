//! The version 2 document: one for all group versions, merged on first use.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::map::Entry;
use serde_json::{Map, Value};

/// Members that are maps by name, whose entries are merged.
const MERGED: [&str; 3] = [DEFINITIONS, "parameters", "paths"];

const DEFINITIONS: &str = "definitions";

/// The prefix of a reference to a definition.
const REFERENCE: &str = "#/definitions/";

/// The kinds that a definition describes.
const KINDS: &str = "x-kubernetes-group-version-kind";

/// Merges the documents of group versions; of several entries with one name the first counts, with the kinds of all.
///
/// Documents of `others`, other servers, come last: if one of them defines a name differently, its definition is
/// renamed, and its references follow.
pub(super) fn merge(own: impl IntoIterator<Item = Bytes>, others: impl IntoIterator<Item = Bytes>) -> Value {
    let mut whole = Map::new();
    for part in own.into_iter().filter_map(|part| read(&part)) {
        add(&mut whole, part);
    }
    for mut part in others.into_iter().filter_map(|part| read(&part)) {
        rename_conflicts(&whole, &mut part);
        add(&mut whole, part);
    }
    Value::Object(whole)
}

fn read(part: &[u8]) -> Option<Map<String, Value>> {
    let part = serde_json::from_slice(part).ok();
    if part.is_none() {
        tracing::error!("an OpenAPI document is no JSON object and was left out");
    }
    part
}

fn add(whole: &mut Map<String, Value>, part: Map<String, Value>) {
    for (name, value) in part {
        match (whole.get_mut(&name), value) {
            (Some(Value::Object(have)), Value::Object(more)) if MERGED.contains(&name.as_str()) => {
                for (name, value) in more {
                    match have.entry(name) {
                        Entry::Occupied(mut first) => add_kinds(first.get_mut(), value),
                        Entry::Vacant(free) => drop(free.insert(value)),
                    }
                }
            }
            (Some(_), _) => {}
            (None, value) => drop(whole.insert(name, value)),
        }
    }
}

/// Adds the kinds that `definition` describes to those of `first`, in the order of their groups and versions.
fn add_kinds(first: &mut Value, mut definition: Value) {
    let (Some(Value::Array(kinds)), Some(Value::Array(more))) = (first.get_mut(KINDS), definition.get_mut(KINDS))
    else {
        return;
    };
    more.retain(|kind| !kinds.contains(kind));
    if more.is_empty() {
        return;
    }
    kinds.append(more);
    kinds.sort_by_cached_key(|kind| ["group", "version", "kind"].map(|name| kind[name].to_string()));
}

/// Renames the definitions of `part` whose names mean something else in `whole`. All get the same number as a suffix:
/// the first that is free for all of them, or under which the same definitions exist already because of another server.
fn rename_conflicts(whole: &Map<String, Value>, part: &mut Map<String, Value>) {
    let nothing = Map::new();
    let known = whole.get(DEFINITIONS).and_then(Value::as_object).unwrap_or(&nothing);
    let is_other = |name: &str, definition: &Value| known.get(name).is_some_and(|known| !is_same(known, definition));
    let Some(Value::Object(own)) = part.remove(DEFINITIONS) else {
        return;
    };
    let others = own.iter().filter(|(name, definition)| is_other(name, definition));
    let others: Vec<&String> = others.map(|(name, _)| name).collect();
    for number in 2_u64.. {
        let renamed = others.iter().map(|name| ((*name).clone(), format!("{name}_v{number}")));
        let renamed: HashMap<String, String> = renamed.collect();
        // Checked first: it is cheap, and a server can have as many such names as it likes.
        if renamed.values().any(|name| own.contains_key(name)) {
            continue;
        }
        let mut moved = Map::new();
        for (name, definition) in &own {
            let mut definition = definition.clone();
            refer(&mut definition, &renamed);
            moved.insert(renamed.get(name).unwrap_or(name).clone(), definition);
        }
        let is_free = |name: &String| !is_other(name, &moved[name]);
        if renamed.values().all(is_free) {
            part.values_mut().for_each(|value| refer(value, &renamed));
            part.insert(DEFINITIONS.to_owned(), Value::Object(moved));
            return;
        }
    }
}

/// True if two definitions are equal, apart from their kinds.
fn is_same(left: &Value, right: &Value) -> bool {
    let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else {
        return left == right;
    };
    let facts = |definition: &Map<String, Value>| definition.keys().filter(|name| *name != KINDS).count();
    let mut others = left.iter().filter(|(name, _)| *name != KINDS);
    facts(left) == facts(right) && others.all(|(name, value)| right.get(name) == Some(value))
}

/// Updates references to renamed definitions.
fn refer(value: &mut Value, renamed: &HashMap<String, String>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get_mut("$ref")
                    && let Some(name) = reference.strip_prefix(REFERENCE)
                    && let Some(name) = renamed.get(name)
                {
                    *reference = format!("{REFERENCE}{name}");
                }
                open.extend(members.values_mut());
            }
            Value::Array(elements) => open.extend(elements),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn group_versions_become_one_document() {
        let core: &[u8] =
            br#"{"swagger":"2.0","info":{"title":"a"},"paths":{"/api/v1/pods":{}},"definitions":{"x":{}}}"#;
        let apps: &[u8] =
            br#"{"swagger":"2.0","info":{"title":"b"},"paths":{"/apis/apps/v1":{}},"definitions":{"y":{}}}"#;
        let whole = json!({
            "swagger": "2.0",
            "info": {"title": "a"},
            "paths": {"/api/v1/pods": {}, "/apis/apps/v1": {}},
            "definitions": {"x": {}, "y": {}},
        });
        assert_eq!(merge([core, b"[]", apps].map(Bytes::from_static), []), whole);
    }

    #[test]
    fn a_definition_of_several_group_versions_lists_the_kinds_of_all() {
        let part = |group: &str| {
            let kinds = json!([{"group": "", "version": "v1", "kind": "Options"}, {"group": group, "version": "v1", "kind": "Options"}]);
            Bytes::from(
                json!({"definitions": {"Options": {"type": "object", "x-kubernetes-group-version-kind": kinds}}})
                    .to_string(),
            )
        };
        let whole = merge([part("shop"), part("apps")], [part("other")]);
        let kinds = whole["definitions"]["Options"][KINDS].as_array().unwrap();
        let groups: Vec<&str> = kinds.iter().filter_map(|kind| kind["group"].as_str()).collect();
        assert_eq!(groups, ["", "apps", "other", "shop"]);
    }

    #[test]
    fn others_do_not_say_what_own_definitions_are() {
        let own = json!({"definitions": {
            "Deployment": {"type": "object", "properties": {"spec": {"$ref": "#/definitions/Spec"}}},
            "Spec": {"type": "object"},
            "Options": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "apps"}]},
        }});
        let other = |path: &str| {
            json!({
                "paths": {path: {"schema": {"$ref": "#/definitions/Deployment"}}},
                "definitions": {
                    "Deployment": {"type": "object", "properties": {"list": [{"$ref": "#/definitions/Spec"}]}},
                    "Spec": {"type": "string"},
                    "Options": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "other"}]},
                    "Order": {"items": {"$ref": "#/definitions/Options"}},
                },
            })
        };
        let bytes = |document: Value| Bytes::from(document.to_string());
        let whole = merge([bytes(own.clone())], [bytes(other("/a")), bytes(other("/b"))]);
        let definitions = &whole["definitions"];
        for name in ["Deployment", "Spec"] {
            assert_eq!(definitions[name], own["definitions"][name]);
        }
        let kinds = json!([{"group": "apps"}, {"group": "other"}]);
        assert_eq!(
            definitions["Options"],
            json!({"type": "object", "x-kubernetes-group-version-kind": kinds})
        );
        assert_eq!(definitions["Spec_v2"], json!({"type": "string"}));
        let list = &definitions["Deployment_v2"]["properties"]["list"];
        assert_eq!(list, &json!([{"$ref": "#/definitions/Spec_v2"}]));
        assert_eq!(definitions["Order"]["items"]["$ref"], "#/definitions/Options");
        for path in ["/a", "/b"] {
            assert_eq!(whole["paths"][path]["schema"]["$ref"], "#/definitions/Deployment_v2");
        }
        assert_eq!(definitions.as_object().map(Map::len), Some(6));
    }
}
