//! Objects as trees and back.

use planesmith_wire::json::{parse_written, parse_written_lossy};
use serde_json::{Map, Number, Value};

use super::{DecodeError, Findings, Strictness, decode, encode_value, encode_view, parse_value, to_vec};
use crate::value::{Struct, View};

/// Returns `object` as a tree. A number that no JSON number type can represent becomes `null`.
#[must_use]
pub fn to_value(object: &dyn Struct) -> Value {
    // The JSON was just written, so it is valid, and it is no deeper than decoded input.
    parse_written_lossy(&to_vec(object))
}

/// Like [`to_value`], for a tree that is converted back to an object.
///
/// # Errors
///
/// If the object contains a number that no JSON number type can represent.
pub fn try_to_value(object: &dyn Struct) -> Result<Value, DecodeError> {
    parse_written(&to_vec(object))
}

/// Decodes a tree into `target`, as [`decode`] does with text.
///
/// # Errors
///
/// Those of [`decode`].
pub fn from_value(value: &Value, target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    let mut text = Vec::with_capacity(512);
    encode_value(value, &mut text);
    decode(&text, target, strictness)
}

/// Returns the content of a view as a tree.
pub(crate) fn tree_of(view: &View<'_>) -> Value {
    match view {
        View::Absent => Value::Null,
        View::Bool(value) => Value::Bool(*value),
        View::Int(value) => Value::from(*value),
        View::Double(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        View::Str(text) => Value::String((*text).to_owned()),
        View::List(list) => (0..list.len())
            .filter_map(|index| list.get(index))
            .map(|element| tree_of(&element.view()))
            .collect(),
        View::Map(map) => {
            let mut entries = Map::new();
            map.each(&mut |key, value| drop(entries.insert(key.to_owned(), tree_of(&value.view()))));
            Value::Object(entries)
        }
        View::Bytes(_) | View::Scalar(_) | View::Struct(_) => {
            let mut text = Vec::new();
            encode_view(view, &mut text);
            parse_value(&text, Strictness::Lenient).map_or(Value::Null, |(tree, _)| tree)
        }
    }
}
