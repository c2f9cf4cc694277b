//! Numbers of documents as integers, by the rules of Go's reflection.

use serde_json::Value as Tree;

/// The low 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "too large integers wrap around")]
pub(super) fn int32(tree: &Tree) -> Result<i32, String> {
    Ok(int64(tree, "int32")? as i32)
}

/// The low 8 bits; null is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "too large integers wrap around"
)]
pub(super) fn byte(tree: &Tree) -> Result<u8, String> {
    if tree.is_null() {
        return Ok(0);
    }
    Ok(int64(tree, "uint8")? as u8)
}

/// A whole number, for a value of the Go type `wanted`.
pub(super) fn int64(tree: &Tree, wanted: &str) -> Result<i64, String> {
    let Tree::Number(number) = tree else {
        return Err(format!("unrecognized type: {wanted}"));
    };
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => Ok(whole),
        (None, Some(double)) if double.fract() == 0.0 => Ok(truncated(double)),
        _ => Err(format!("cannot convert float64 to {wanted}")),
    }
}

/// As processors of the x86 family convert: a number that no integer can hold becomes the least one.
#[expect(clippy::cast_possible_truncation, reason = "it is in range")]
fn truncated(double: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if double.abs() < LIMIT { double as i64 } else { i64::MIN }
}
