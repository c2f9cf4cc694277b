//! Drafts from OpenAPI v3 documents.

use std::collections::BTreeMap;

use serde_json::Value;

use super::draft::{Draft, literal};
use super::schema::{Origin, Schemas};

/// Lists and metadata are common to all groups.
const GENERAL: [&str; 2] = ["io.k8s.apimachinery.", "io.k8s.kube-aggregator."];

/// Returns a draft for each version with kinds.
pub(super) fn drafts(document: &Value) -> Vec<Draft> {
    let schemas = &document["components"]["schemas"];
    let mut drafts: BTreeMap<(String, String), Schemas> = BTreeMap::new();
    let definitions = || {
        let all = schemas.as_object().into_iter().flatten();
        all.filter(|(name, _)| !GENERAL.iter().any(|general| name.starts_with(general)))
    };
    let mut home: BTreeMap<&str, (String, String)> = BTreeMap::new();
    for (name, schema) in definitions() {
        let kind = &schema["x-kubernetes-group-version-kind"][0];
        if let (Some(group), Some(version)) = (kind["group"].as_str(), kind["version"].as_str()) {
            let package = name.rsplit_once('.').map_or("", |(package, _)| package);
            home.insert(package, (group.to_owned(), version.to_owned()));
        }
    }
    for (name, schema) in definitions() {
        let (package, short) = name.rsplit_once('.').unwrap_or(("", name));
        let Some((group, version)) = home.get(package) else {
            continue;
        };
        let is_list = schema["properties"]["items"].is_object() && short.ends_with("List");
        if is_list || schema["type"] != "object" {
            continue;
        }
        let is_kind =
            schema["x-kubernetes-group-version-kind"].is_array() && schema["properties"]["metadata"].is_object();
        let place = (group.clone(), version.clone());
        let draft = drafts.entry(place).or_insert_with(|| Schemas::new(Origin::Document));
        match is_kind {
            true => {
                let keys = resource(document, schema, group, version, short);
                draft.kind(short, schema, keys, Vec::new());
            }
            false => draft.plain(short, schema),
        }
    }
    let draft = |((group, version), schemas): ((String, String), Schemas)| Draft {
        group,
        version,
        structs: schemas.structs,
    };
    drafts.into_iter().map(draft).collect()
}

/// Returns the keys of `#[resource(...)]`; scope, plural and subresources follow from the paths.
fn resource(document: &Value, schema: &Value, group: &str, version: &str, kind: &str) -> Vec<String> {
    let mut keys = vec![
        format!("group = {}", literal(group)),
        format!("version = {}", literal(version)),
    ];
    let mut plural = None;
    let (mut namespaced, mut status) = (false, false);
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        let is_it = item.as_object().into_iter().flatten().any(|(_, operation)| {
            let named = &operation["x-kubernetes-group-version-kind"];
            named["kind"] == kind && named["version"] == version && named["group"] == group
        });
        let Some((collection, below)) = path.split_once("/{name}").filter(|_| is_it) else {
            continue;
        };
        plural = collection.rsplit('/').next();
        namespaced |= path.contains("/namespaces/{namespace}/");
        status |= below == "/status";
    }
    keys.extend(plural.map(|plural| format!("plural = {}", literal(plural))));
    if plural.is_none() {
        keys.push("unserved".to_owned());
    }
    if !namespaced {
        keys.push("cluster".to_owned());
    }
    if status && schema["properties"]["status"].is_object() {
        keys.push("status".to_owned());
    }
    keys
}
