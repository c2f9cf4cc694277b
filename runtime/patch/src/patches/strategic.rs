//! Strategic merge patch: a merge patch that merges lists by declared keys.

mod directives;
mod element_order;
mod lists;
mod schema;

use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::json::{self, DecodeError, Strictness, name_of};
use planesmith_machinery::status::ApiError;
use planesmith_wire::go_format;
use serde_json::{Map, Value};

use super::{Patched, read};
use schema::Schema;

/// `$patch`: the operation on the enclosing map or list element.
const DIRECTIVE: &str = "$patch";
/// `$retainKeys`: the keys of a map that are retained.
const RETAIN_KEYS: &str = "$retainKeys";
/// `$deleteFromPrimitiveList/<field>`: values to remove from a list.
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
/// `$setElementOrder/<field>`: the order of a list's elements.
const SET_ORDER: &str = "$setElementOrder";

/// Applies a strategic merge patch to an object of the type `facts`, given as a JSON document.
///
/// # Errors
///
/// 400, 422 or 500, as in kube-apiserver, for invalid patches.
pub fn strategic_merge_patch<'p>(
    facts: &'static StructFacts,
    document: &[u8],
    sent: &'p [u8],
    strictness: Strictness,
) -> Result<Patched<'p>, ApiError> {
    let refuse = |error: DecodeError| ApiError::bad_request(error.to_string());
    let (patch, findings) = read(sent, strictness).map_err(refuse)?;
    let patch = match patch {
        Value::Object(patch) => patch,
        Value::Null => Map::new(),
        other => {
            let kind = name_of(&other);
            let message = format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}");
            return Err(ApiError::bad_request(message));
        }
    };
    let (document, _) = read(document, Strictness::Lenient).map_err(refuse)?;
    let Value::Object(document) = document else {
        return Err(ApiError::bad_request("invalid JSON document"));
    };
    let keeps_points = patch.values().any(has_whole_double);
    let patched = merge_maps(document, patch, &Schema::of_struct(facts))?;
    let mut out = Vec::new();
    let patched = Value::Object(patched);
    match keeps_points {
        // In a field of type text, such numbers are refused in words of their own. All others are written as they are stored: what
        // raw parts of the document hold becomes bytes again as it stands here.
        true => serde_json::to_writer(&mut out, &patched).expect("a tree is JSON, and memory takes it"),
        false => json::encode_value(&patched, &mut out),
    }
    Ok(Patched {
        patch: Some(sent),
        ..Patched::new(out, findings)
    })
}

/// Returns an applied patch for messages: without the directive that replaces the whole object, which is removed by its
/// execution.
pub(super) fn rendered(patch: &[u8]) -> String {
    match read(patch, Strictness::Lenient) {
        Ok((Value::Object(mut patch), _)) => {
            if patch.get(DIRECTIVE).is_some_and(|directive| directive == "replace") {
                patch.remove(DIRECTIVE);
            }
            go_format::map(&patch)
        }
        _ => go_format::map(&Map::new()),
    }
}

/// True if there is a number with a point and nothing behind it.
fn has_whole_double(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|double| double.fract() == 0.0),
        Value::Array(elements) => elements.iter().any(has_whole_double),
        Value::Object(entries) => entries.values().any(has_whole_double),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Merges a map of the patch into a map of the document.
fn merge_maps(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    schema: &Schema,
) -> Result<Map<String, Value>, ApiError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(directives::unknown(directive, &patch)),
        };
    }
    directives::retain_keys(&mut original, &mut patch)?;
    element_order::apply(&mut original, &mut patch, schema)?;
    for (key, change) in patch {
        match key.strip_prefix(DELETE_FROM_LIST) {
            None => merge_entry(&mut original, key, change, schema)?,
            Some(field) => {
                let field = field
                    .strip_prefix('/')
                    .ok_or_else(|| ApiError::bad_request("invalid patch format of primitive list"))?;
                delete_from_list(&mut original, field, change, schema)?;
            }
        }
    }
    Ok(original)
}

fn merge_entry(
    original: &mut Map<String, Value>,
    key: String,
    mut change: Value,
    schema: &Schema,
) -> Result<(), ApiError> {
    if change.is_null() {
        original.remove(&key);
        return Ok(());
    }
    let merged = match (original.get_mut(&key).map(Value::take), change) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            let (inner, field) = schema.field(&key)?;
            match field.patch {
                Some(patch) if patch.replace => Some(Value::Object(new)),
                _ => Some(Value::Object(merge_maps(old, new, &inner)?)),
            }
        }
        (Some(Value::Array(old)), Value::Array(new)) => {
            let (inner, strategy) = schema.list(&key)?;
            Some(Value::Array(lists::merge(old, new, &inner, strategy)?))
        }
        (old, new) => {
            change = new;
            if !same_type(old.as_ref(), &change) {
                directives::discard_nulls(&mut change);
            }
            directives::strip(change)
        }
    };
    match merged {
        Some(value) => drop(original.insert(key, value)),
        None => drop(original.remove(&key)),
    }
    Ok(())
}

fn delete_from_list(
    original: &mut Map<String, Value>,
    field: &str,
    change: Value,
    schema: &Schema,
) -> Result<(), ApiError> {
    if change.is_null() {
        original.remove(field);
        return Ok(());
    }
    if let (Some(Value::Array(list)), Value::Array(values)) = (original.get_mut(field), change) {
        let (inner, strategy) = schema.list(field)?;
        *list = lists::delete_values(std::mem::take(list), values, &inner, strategy)?;
    }
    Ok(())
}

/// True if Go represents two values by the same type.
fn same_type(left: Option<&Value>, right: &Value) -> bool {
    left.is_some_and(|left| go_format::type_of(left) == go_format::type_of(right))
}

/// 500 without a reason, which kube-apiserver returns if the merge itself fails.
fn failed(message: impl Into<String>) -> ApiError {
    ApiError::unnamed(500, message)
}

#[cfg(test)]
mod tests;
