//! Options of requests: query parameters, and the body of a delete.

mod delete;
mod list;
mod write;

use std::num::IntErrorKind;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::status::{ApiError, ApiResult};

pub(crate) use delete::{DeleteOptions, Propagation};
pub(crate) use list::{ListOptions, Start, VersionMatch};
pub(crate) use write::{FieldValidation, WriteOptions};

use crate::request::Query;

/// A number in a query; `None` when the parameter is absent.
fn number(query: Query<'_>, name: &str) -> ApiResult<Option<i64>> {
    match query.first(name) {
        None => Ok(None),
        Some(text) => parse_number(&text).map(Some),
    }
}

fn parse_number(text: &str) -> ApiResult<i64> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        let why = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        let quoted = planesmith_machinery::go_format::quote(text);
        ApiError::bad_request(format!("strconv.ParseInt: parsing {quoted}: {why}"))
    })
}

/// 422 for the options themselves, if there are `errors`.
fn check(kind: &'static str, errors: &FieldErrors) -> ApiResult<()> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(&GroupKind::new("meta.k8s.io", kind), "", errors))
}

/// Parses a resourceVersion that must be a number; the error message is Go's.
pub(crate) fn parse_version(text: &str) -> Result<u64, String> {
    let quoted = || planesmith_machinery::go_format::quote(text);
    // Rust would accept a sign, Go does not.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("strconv.ParseUint: parsing {}: invalid syntax", quoted()));
    }
    text.parse()
        .map_err(|_| format!("strconv.ParseUint: parsing {}: value out of range", quoted()))
}

/// Like [`parse_version`], with the error of a field; empty text is 0.
pub(crate) fn parse_version_field(text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let quoted = || planesmith_machinery::go_format::quote(text);
    parse_version(text).map_err(|why| format!("resourceVersion: Invalid value: {}: {why}", quoted()))
}

#[cfg(test)]
mod tests;
