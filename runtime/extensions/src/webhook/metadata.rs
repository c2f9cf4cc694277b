//! Checks the metadata in a webhook's answer: it may only change labels and annotations.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::type_of;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::validation::{check_annotations, check_labels};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Checks that the converted object is the same one in the wanted version.
pub(super) fn check(before: &Value, after: &Value, wanted: &ResourceFacts) -> Result<(), String> {
    let version = str_at(after, "/apiVersion");
    if version != wanted.api_version {
        let expected = &wanted.api_version;
        return Err(format!(
            " at index 0: invalid groupVersion (expected {expected}, received {version})"
        ));
    }
    let kind = str_at(after, "/kind");
    if kind != wanted.kind {
        let expected = &wanted.kind;
        return Err(format!(
            " at index 0: invalid kind (expected {expected}, received {kind})"
        ));
    }
    for (name, pointer) in [
        ("name", "/metadata/name"),
        ("namespace", "/metadata/namespace"),
        ("UID", "/metadata/uid"),
    ] {
        let (before, after) = (str_at(before, pointer), str_at(after, pointer));
        if before != after {
            return Err(format!(": must have the same {name}: {before} != {after}"));
        }
    }
    Ok(())
}

/// Gives the converted object the metadata that it had, with its own labels and annotations.
pub(super) fn restore(before: &Value, after: &mut Value) -> Result<(), String> {
    let Some(answered) = after.get("metadata") else {
        return Err("missing metadata in converted object".to_owned());
    };
    let Value::Object(answered) = answered else {
        return Err(format!(
            "invalid metadata of type {} in converted object",
            type_of(answered)
        ));
    };
    let mut restored = before
        .get("metadata")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for name in ["labels", "annotations"] {
        let had = restored.remove(name);
        match answered.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(entries)) => {
                check_texts(name, entries, had.as_ref())?;
                restored.insert(name.to_owned(), Value::Object(entries.clone()));
            }
            Some(other) => {
                return Err(format!(
                    "invalid metadata.{name} of type {} in converted object",
                    type_of(other)
                ));
            }
        }
    }
    after["metadata"] = Value::Object(restored);
    Ok(())
}

fn check_texts(name: &str, entries: &Map<String, Value>, had: Option<&Value>) -> Result<(), String> {
    let mut texts = BTreeMap::new();
    for (key, value) in entries {
        let Value::String(value) = value else {
            let found = type_of(value);
            return Err(format!(
                "metadata.{name}[{key}] must be a string, but is {found} in converted object"
            ));
        };
        texts.insert(key.clone(), value.clone());
    }
    if had.and_then(Value::as_object) == Some(entries) {
        return Ok(());
    }
    let mut errors = FieldErrors::default();
    match name {
        "labels" => check_labels("metadata.labels", &texts, &mut errors),
        _ => check_annotations("metadata.annotation", &texts, &mut errors),
    }
    errors.joined().map_or(Ok(()), Err)
}

fn str_at<'v>(document: &'v Value, pointer: &str) -> &'v str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
