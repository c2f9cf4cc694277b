//! Keys of a patch that say what to do instead of what to set.

use std::collections::{BTreeMap, HashSet};

use planesmith_machinery::status::ApiError;
use planesmith_wire::go_format;
use serde_json::{Map, Value};

use super::{DELETE_FROM_LIST, DIRECTIVE, RETAIN_KEYS, SET_ORDER, failed};

/// The failure of an unknown directive.
pub(super) fn unknown(directive: &Value, patch: &Map<String, Value>) -> ApiError {
    let (directive, patch) = (as_text(directive), go_format::map(patch));
    failed(format!("unknown patch type: {directive} in map: {patch}"))
}

/// A value as Go's `%s` prints it.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Number(_) | Value::Bool(_) => {
            format!("%!s({}={})", go_format::type_of(value), go_format::value(value))
        }
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(as_text).collect();
            format!("[{}]", elements.join(" "))
        }
        Value::Object(entries) => {
            let sorted: BTreeMap<_, _> = entries.iter().collect();
            let entries: Vec<String> = sorted
                .into_iter()
                .map(|(name, value)| format!("{name}:{}", as_text(value)))
                .collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

/// Obeys `$retainKeys`: keys that it does not list are removed, and must not stand in the patch.
pub(super) fn retain_keys(original: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Result<(), ApiError> {
    let Some(listed) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let malformed = || ApiError::bad_request("invalid patch format of retainKeys");
    let listed: HashSet<&str> = listed
        .as_array()
        .ok_or_else(malformed)?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let is_directive = |key: &str| key.starts_with(DELETE_FROM_LIST) || key.starts_with(SET_ORDER);
    let is_listed =
        |(key, value): (&String, &Value)| value.is_null() || is_directive(key) || listed.contains(key.as_str());
    if !patch.iter().all(is_listed) {
        return Err(malformed());
    }
    original.retain(|key, _| listed.contains(key.as_str()));
    Ok(())
}

/// Removes entries without a value from maps, at any depth.
pub(super) fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|_, value| !value.is_null());
            entries.values_mut().for_each(discard_nulls);
        }
        Value::Array(elements) => elements.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// Removes maps with a directive, at any depth; `None` when the value itself is one.
pub(super) fn strip(value: Value) -> Option<Value> {
    match value {
        Value::Object(entries) if entries.contains_key(DIRECTIVE) => None,
        Value::Object(entries) => {
            let stripped = entries
                .into_iter()
                .filter_map(|(key, value)| Some((key, strip(value)?)));
            Some(Value::Object(stripped.collect()))
        }
        Value::Array(elements) => Some(Value::Array(elements.into_iter().filter_map(strip).collect())),
        other => Some(other),
    }
}
