//! Lists whose elements are merged.

use std::collections::{HashMap, HashSet};

use planesmith_machinery::status::ApiError;
use planesmith_wire::go_format;
use serde_json::{Map, Value};

use super::element_order::{Identity, order};
use super::schema::{ListStrategy, Schema};
use super::{DIRECTIVE, directives, failed, merge_maps};

/// Merges a list of the patch into a list of the document.
pub(super) fn merge(
    original: Vec<Value>,
    patch: Vec<Value>,
    schema: &Schema,
    strategy: ListStrategy,
) -> Result<Vec<Value>, ApiError> {
    if !strategy.merge {
        return Ok(patch);
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if element_type(&original, &patch)? != "map[string]interface {}" {
        let mut merged = original.clone();
        merged.extend(patch.iter().cloned());
        let mut seen = HashSet::new();
        merged.retain(|value| seen.insert(value.to_string()));
        return order(merged, &patch, &original, Identity::Value);
    }
    if strategy.key.is_empty() {
        return Err(failed(format!(
            "cannot merge lists without merge key for {}",
            schema.name()
        )));
    }
    let (original, patch) = take_directives(original, patch, strategy.key)?;
    let merged = merge_elements(original.clone(), &patch, strategy.key, schema)?;
    order(merged, &patch, &original, Identity::Key(strategy.key))
}

/// Removes plain values from a list. Objects are merged into it, whatever the strategy: kube-apiserver has a case for plain
/// values only.
pub(super) fn delete_values(
    mut list: Vec<Value>,
    values: Vec<Value>,
    schema: &Schema,
    strategy: ListStrategy,
) -> Result<Vec<Value>, ApiError> {
    if list.is_empty() && values.is_empty() {
        return Ok(list);
    }
    if element_type(&list, &values)? == "map[string]interface {}" {
        return merge(
            list,
            values,
            schema,
            ListStrategy {
                merge: true,
                ..strategy
            },
        );
    }
    let values: HashSet<String> = values.iter().map(Value::to_string).collect();
    list.retain(|value| !values.contains(&value.to_string()));
    Ok(list)
}

/// The one Go type of all elements.
pub(super) fn element_type(original: &[Value], patch: &[Value]) -> Result<&'static str, ApiError> {
    let mut types = original.iter().chain(patch).map(go_format::type_of);
    let Some(first) = types.next() else {
        return Err(failed("no elements in any of the given slices"));
    };
    if first == "[]interface {}" {
        // "lists of lists are not supported" is what the log says; the answer is the general one.
        return Err(ApiError::patch_rejected());
    }
    if types.any(|other| other != first) {
        let rendered = |list: &[Value]| go_format::value(&Value::Array(list.to_vec()));
        let (original, patch) = (rendered(original), rendered(patch));
        return Err(failed(format!(
            "list element types are not identical: [{original} {patch}]"
        )));
    }
    Ok(first)
}

/// Executes elements with a directive and removes them from the patch.
fn take_directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), ApiError> {
    let (mut plain, mut deleted, mut replace) = (Vec::new(), HashSet::new(), false);
    for element in patch {
        let Some((entries, directive)) = directive_of(&element) else {
            plain.push(element);
            continue;
        };
        match directive.as_str() {
            Some("delete") => match entries.get(key) {
                Some(value) => drop(deleted.insert(value.to_string())),
                None => return Err(no_merge_key(entries, key)),
            },
            Some("replace") => replace = true,
            Some("merge") => return Err(failed("merging lists cannot yet be specified in the patch")),
            _ => return Err(directives::unknown(directive, entries)),
        }
    }
    if replace {
        return Ok((plain, Vec::new()));
    }
    original.retain(|element| {
        !element
            .get(key)
            .is_some_and(|value| deleted.contains(&value.to_string()))
    });
    Ok((original, plain))
}

fn directive_of(element: &Value) -> Option<(&Map<String, Value>, &Value)> {
    let entries = element.as_object()?;
    Some((entries, entries.get(DIRECTIVE)?))
}

/// Merges elements with the same key, and appends the others.
fn merge_elements(mut merged: Vec<Value>, patch: &[Value], key: &str, schema: &Schema) -> Result<Vec<Value>, ApiError> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, element) in merged.iter().enumerate() {
        if let Some(value) = element.get(key) {
            places.entry(value.to_string()).or_insert(place);
        }
    }
    for element in patch {
        let Value::Object(entries) = element else { continue };
        let Some(value) = entries.get(key) else {
            return Err(no_merge_key(entries, key));
        };
        match places.get(&value.to_string()) {
            Some(place) => {
                if let Value::Object(old) = merged[*place].take() {
                    merged[*place] = Value::Object(merge_maps(old, entries.clone(), schema)?);
                }
            }
            None => {
                places.insert(value.to_string(), merged.len());
                merged.push(element.clone());
            }
        }
    }
    Ok(merged)
}

/// The failure of an element without the merge key.
pub(super) fn no_merge_key(entries: &Map<String, Value>, key: &str) -> ApiError {
    failed(format!(
        "map: {} does not contain declared merge key: {key}",
        go_format::map(entries)
    ))
}
