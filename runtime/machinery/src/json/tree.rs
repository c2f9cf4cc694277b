//! Objects as trees and back.

use planesmith_wire::json::{parse_written, parse_written_lossy};
use serde_json::Value;

use super::{DecodeError, Findings, Strictness, decode, encode_value, to_vec};
use crate::value::Struct;

/// `object` as a tree. A number inside that no type can hold is `null` there.
#[must_use]
pub fn to_value(object: &dyn Struct) -> Value {
    // What was just written is valid, and what was read is no deeper.
    parse_written_lossy(&to_vec(object))
}

/// As [`to_value`], for a tree that is to become an object again.
///
/// # Errors
///
/// When the object holds a number that no type can hold.
pub(crate) fn try_to_value(object: &dyn Struct) -> Result<Value, DecodeError> {
    parse_written(&to_vec(object))
}

/// Reads a tree over `target`, as [`decode`] does with text.
///
/// # Errors
///
/// As [`decode`].
pub fn from_value(value: &Value, target: &mut dyn Struct, strictness: Strictness) -> Result<Findings, DecodeError> {
    let mut text = Vec::with_capacity(512);
    encode_value(value, &mut text);
    decode(&text, target, strictness)
}
