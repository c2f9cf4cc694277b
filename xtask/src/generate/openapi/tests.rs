//! The documents of the built-in groups equal those of kube-apiserver in everything but descriptions.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::definitions::Document;
use super::{entrances, file_name, served_path, v2, v3};
use crate::cargo::workspace;
use crate::generate::model::{Group, Model, Version};

/// Words that only servers with alpha features contain.
const ALPHA: &[&str] = &["cbor"];

#[test]
fn version_3_agrees_with_kube_apiserver() {
    each(|document, folder| {
        let name = file_name(&served_path(document.group, document.version)).replace(".json", "_openapi.json");
        let theirs = read(&folder.join("v3").join(name));
        let ours = parse(&v3::render(document));
        let mut differences = Vec::new();
        for section in ["/components/schemas", "/paths"] {
            compare_section(&ours, &theirs, section, &mut differences);
            let members = theirs.pointer(section).and_then(Value::as_object);
            let ours = ours.pointer(section).and_then(Value::as_object).expect("a section");
            let missing = members
                .into_iter()
                .flat_map(Map::keys)
                .filter(|name| !ours.contains_key(*name));
            differences.extend(missing.map(|name| format!("{section}: we have no {name}")));
        }
        differences
    });
}

#[test]
fn version_2_agrees_with_kube_apiserver() {
    each(|document, folder| {
        let theirs = read(&folder.join("v2.json"));
        let mut ours = parse(&v2::render(document));
        // The server merges these lists of groups.
        for name in ["DeleteOptions", "WatchEvent"] {
            let path = format!(
                "/definitions/{}.{name}/x-kubernetes-group-version-kind",
                super::names::META
            );
            let all = theirs.pointer(&path).cloned().unwrap_or_default();
            if let Some(kinds) = ours.pointer_mut(&path).filter(|_| !document.group.name.is_empty()) {
                assert!(
                    kinds
                        .as_array()
                        .into_iter()
                        .flatten()
                        .all(|kind| all.as_array().unwrap().contains(kind))
                );
                *kinds = all;
            }
        }
        let mut differences = Vec::new();
        for section in ["/definitions", "/paths", "/parameters"] {
            compare_section(&ours, &theirs, section, &mut differences);
        }
        differences
    });
}

#[test]
fn paths_outside_of_group_versions_agree_with_kube_apiserver() {
    let Some(folder) = reference() else { return };
    let model = Model::load(workspace()).expect("definitions without problems");
    let second = read(&folder.join("v2.json"));
    let mut differences = Vec::new();
    for (_, entrance) in entrances(&model.packages[0]) {
        let ours = parse(&entrance.v2(&model));
        for section in ["/definitions", "/paths"] {
            compare_section(&ours, &second, section, &mut differences);
        }
        let theirs = folder
            .join("v3")
            .join(file_name(&entrance.path).replace(".json", "_openapi.json"));
        if theirs.exists() {
            let mut theirs = read(&theirs);
            // The reference was recorded with a placeholder version.
            theirs["info"]["version"] = "v1.36.0".into();
            compare(&parse(&entrance.v3(&model)), &theirs, &entrance.path, &mut differences);
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns the folder with kube-apiserver's documents, next to the workspace.
fn reference() -> Option<PathBuf> {
    let folder = workspace().join("../shared/kubernetes/openapi");
    if !folder.is_dir() {
        println!("skipped: there is no reference data at ../shared/kubernetes/openapi");
        return None;
    }
    Some(folder)
}

/// Collects the differences in the documents of the built-in groups.
fn each(check: impl Fn(&Document<'_>, &PathBuf) -> Vec<String>) {
    let Some(folder) = reference() else { return };
    let model = Model::load(workspace()).expect("definitions without problems");
    let built_in = &model.packages[0];
    let versions: Vec<(&Group, &Version)> = built_in
        .groups
        .iter()
        .flat_map(|group| group.versions.iter().map(move |version| (group, version)))
        .filter(|(_, version)| version.is_served())
        .collect();
    assert!(!versions.is_empty());
    let differences: Vec<String> = versions
        .into_iter()
        .flat_map(|(group, version)| check(&Document::of(&model, group, version), &folder))
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn read(path: &PathBuf) -> Value {
    parse(&std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn parse(text: &str) -> Value {
    without_prose(serde_json::from_str(text).expect("JSON"))
}

/// Removes descriptions and additions of alpha features.
fn without_prose(value: Value) -> Value {
    let is_alpha = |text: &str| ALPHA.iter().any(|word| text.contains(word));
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(key, value)| {
                // A property can be called `description`, too.
                !(is_alpha(key) || key == "description" && value.is_string())
            });
            let kept = kept
                .map(|(key, value)| (key, without_prose(value)))
                .collect::<Map<_, _>>();
            // A reference without siblings is plain; a sibling description is optional.
            match kept.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
                Some([reference]) if kept.len() == 1 => reference.clone(),
                _ => kept.into(),
            }
        }
        Value::Array(items) => {
            let kept = items.into_iter().filter(|item| match item {
                Value::String(text) => !is_alpha(text),
                item => {
                    let named = |key: &str| item.get(key).and_then(Value::as_str).is_some_and(is_alpha);
                    !named("name") && !named("$ref")
                }
            });
            kept.map(without_prose).collect()
        }
        other => other,
    }
}

/// Compares those members of a section that our document has.
fn compare_section(ours: &Value, theirs: &Value, section: &str, differences: &mut Vec<String>) {
    let members = ours.pointer(section).and_then(Value::as_object).expect("a section");
    let known = theirs.pointer(section).and_then(Value::as_object).expect("a section");
    for (name, member) in members {
        match known.get(name) {
            None => differences.push(format!("{section}: they have no {name}")),
            Some(theirs) => compare(member, theirs, name, differences),
        }
    }
}

fn compare(ours: &Value, theirs: &Value, at: &str, differences: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let value = |members: &Map<String, Value>| members.get(key).cloned().unwrap_or_default();
                compare(&value(left), &value(right), &format!("{at}/{key}"), differences);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(left, right, &format!("{at}[{index}]"), differences);
            }
        }
        _ if ours == theirs => {}
        // The reference was recorded with enumerations disabled.
        _ if theirs.is_null() && at.ends_with("/enum") => {}
        _ => differences.push(format!("{at}: {ours} is not {theirs}")),
    }
}
