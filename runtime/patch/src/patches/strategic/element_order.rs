//! The order of the elements of merged lists.

use std::collections::{HashMap, HashSet};

use planesmith_machinery::status::ApiError;
use planesmith_wire::go_format;
use planesmith_wire::sorting::sort_by_key;
use serde_json::{Map, Value};

use super::lists::{element_type, merge, no_merge_key};
use super::schema::Schema;
use super::{DIRECTIVE, SET_ORDER, directives, failed};

/// The identity of an element.
#[derive(Clone, Copy, Debug)]
pub(super) enum Identity<'a> {
    /// The value of this key.
    Key(&'a str),
    /// The element itself.
    Value,
}

impl Identity<'_> {
    fn of(self, element: &Value) -> Result<String, ApiError> {
        match (self, element) {
            (Identity::Value, element) => Ok(element.to_string()),
            (Identity::Key(key), Value::Object(entries)) => match entries.get(key) {
                Some(value) => Ok(value.to_string()),
                None => Err(no_merge_key(entries, key)),
            },
            (Identity::Key(_), other) => Err(wrong_type("map[string]interface {}", other)),
        }
    }
}

/// Executes each `$setElementOrder` of the patch: merges its list and orders the result.
pub(super) fn apply(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    schema: &Schema,
) -> Result<(), ApiError> {
    let keys: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ORDER)).cloned().collect();
    for key in keys {
        let Some(wanted) = patch.remove(&key) else { continue };
        let Value::Array(wanted) = wanted else {
            return Err(wrong_type("[]interface {}", &wanted));
        };
        let malformed = || ApiError::bad_request("invalid patch format of setElementOrder list");
        let field = key
            .strip_prefix(SET_ORDER)
            .and_then(|rest| rest.strip_prefix('/'))
            .ok_or_else(malformed)?;
        apply_one(original, patch, schema, field, &wanted)?;
    }
    Ok(())
}

fn apply_one(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    schema: &Schema,
    field: &str,
    wanted: &[Value],
) -> Result<(), ApiError> {
    let old = list_of(original, field)?;
    let new = list_of(patch, field)?;
    let (inner, strategy) = schema.list(field)?;
    let identity = if strategy.key.is_empty() {
        Identity::Value
    } else {
        Identity::Key(strategy.key)
    };
    check_order(new.as_deref().unwrap_or(&[]), wanted, identity)?;
    let server_order = order_after_deletes(old.as_deref().unwrap_or(&[]), new.as_deref().unwrap_or(&[]), identity)?;
    let patch_order = new.clone().unwrap_or_default();
    let merged = match (old, new) {
        (None, None) => return Ok(()),
        (Some(old), None) => old,
        (None, Some(new)) => new.into_iter().filter_map(directives::strip).collect(),
        (Some(old), Some(new)) => merge(old, new, &inner, strategy)?,
    };
    element_type(&server_order, &patch_order)?;
    let ordered = order(merged, wanted, &server_order, identity)?;
    original.insert(field.to_owned(), Value::Array(ordered));
    patch.remove(field);
    Ok(())
}

/// The elements of the server in the order that counts once the deletes of `patch` are done.
///
/// kube-apiserver deletes in place, and what the patch adds takes the places that became free at the end: so added elements
/// can come behind those that were there.
fn order_after_deletes(old: &[Value], patch: &[Value], identity: Identity<'_>) -> Result<Vec<Value>, ApiError> {
    let mut deleted = HashSet::new();
    let mut added = Vec::new();
    for element in patch {
        match element.get(DIRECTIVE) {
            None => added.push(element),
            Some(directive) if directive == "delete" => {
                deleted.insert(identity.of(element)?);
            }
            Some(_) => return Ok(old.to_vec()),
        }
    }
    if deleted.is_empty() {
        return Ok(old.to_vec());
    }
    let mut order = Vec::with_capacity(old.len());
    let mut known = HashSet::new();
    for element in old.iter().chain(added) {
        let id = identity.of(element)?;
        if !deleted.contains(&id) && known.insert(id) {
            order.push(element.clone());
        }
    }
    order.truncate(old.len());
    Ok(order)
}

fn list_of(entries: &Map<String, Value>, field: &str) -> Result<Option<Vec<Value>>, ApiError> {
    match entries.get(field) {
        None => Ok(None),
        Some(Value::Array(elements)) => Ok(Some(elements.clone())),
        Some(other) => Err(wrong_type("[]interface {}", other)),
    }
}

/// Checks that the elements of the patch stand in the wanted order, and in it at all; deleted ones do not count.
fn check_order(patch: &[Value], wanted: &[Value], identity: Identity<'_>) -> Result<(), ApiError> {
    if patch.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    let mut kept = Vec::new();
    for element in patch {
        match (identity, element) {
            (Identity::Key(_), Value::Object(entries)) if entries.contains_key(DIRECTIVE) => {}
            (Identity::Key(_), Value::Object(_)) | (Identity::Value, _) => kept.push(element),
            (Identity::Key(_), other) => return Err(wrong_type("map[string]interface {}", other)),
        }
    }
    let mut kept = kept.into_iter().peekable();
    for element in wanted {
        let Some(next) = kept.peek() else { return Ok(()) };
        if identity.of(next)? == identity.of(element)? {
            kept.next();
        }
    }
    if kept.peek().is_none() {
        return Ok(());
    }
    let rendered = |list: &[Value]| go_format::value(&Value::Array(list.to_vec()));
    let (patch, wanted) = (rendered(patch), rendered(wanted));
    Err(failed(format!(
        "The order in patch list:\n{patch}\n doesn't match {SET_ORDER} list:\n{wanted}\n"
    )))
}

/// Orders merged elements: those of the patch as `patch_order` has them, the others as `server_order` has them, and
/// both together so that each keeps its order and the others stand before those of the patch that they preceded.
pub(super) fn order(
    merged: Vec<Value>,
    patch_order: &[Value],
    server_order: &[Value],
    identity: Identity<'_>,
) -> Result<Vec<Value>, ApiError> {
    if let Identity::Key(key) = identity
        && let Some(index) = patch_order.iter().position(|element| !element.is_object())
    {
        // kube-apiserver looks for each merged element, and finds some before it gets to the value.
        let value = |element: &Value| element.get(key).map(Value::to_string);
        let before: HashSet<Option<String>> = patch_order[..index].iter().map(value).collect();
        if !merged.iter().all(|element| before.contains(&value(element))) {
            return Err(failed(format!("value for key {index} is not a map")));
        }
    }
    let patch_places = places(patch_order, identity)?;
    let server_places = places(server_order, identity)?;
    let (mut of_patch, mut others) = (Vec::new(), Vec::new());
    for element in merged {
        let id = identity.of(&element)?;
        let server = server_places.get(&id).copied();
        match patch_places.get(&id) {
            Some(place) => of_patch.push((*place, server, element)),
            None => others.push((server, element)),
        }
    }
    sort_by_key(&mut of_patch, |(place, _, _)| *place);
    sort_by_key(&mut others, |(server, _)| server.unwrap_or(usize::MAX));
    let mut ordered = Vec::with_capacity(of_patch.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, server, element) in of_patch {
        while let Some((_, other)) =
            others.next_if(|(other, _)| matches!((other, server), (Some(l), Some(r)) if *l < r))
        {
            ordered.push(other);
        }
        ordered.push(element);
    }
    ordered.extend(others.map(|(_, element)| element));
    Ok(ordered)
}

/// The first place of each element.
fn places(list: &[Value], identity: Identity<'_>) -> Result<HashMap<String, usize>, ApiError> {
    let mut places = HashMap::with_capacity(list.len());
    for (place, element) in list.iter().enumerate() {
        places.entry(identity.of(element)?).or_insert(place);
    }
    Ok(places)
}

fn wrong_type(wanted: &str, found: &Value) -> ApiError {
    failed(format!(
        "expected a {wanted}, but received a {}",
        go_format::type_of(found)
    ))
}
