//! The kinds that documents of a custom kind name: they have to say what they are.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::meta::TypeMeta;
use planesmith_machinery::status::ApiError;
use serde_json::Value as Tree;

use crate::representation::expected::{Expected, Mismatch, canonical, version_of};

/// Checks the kind and version of a body, which are required. Another kind of the version is not unknown, but invalid.
pub(super) fn check(sent: TypeMeta, json: &[u8], expected: Expected<'_>) -> Result<TypeMeta, Mismatch> {
    version_of(&sent)?;
    let sent = canonical(sent);
    if sent.kind.is_empty() {
        return Err(missing_kind(json));
    }
    if sent.api_version != expected.api_version {
        return Err(ApiError::version_mismatch(&sent.api_version, expected.api_version).into());
    }
    check_fields(&sent, expected.group, &[("kind", &sent.kind, expected.kind)], json)?;
    Ok(sent)
}

/// Checks the kind and version of a patched object, which are required and may not change; if only the status is
/// written, they are only required.
pub(super) fn check_patched(
    sent: &TypeMeta,
    json: &[u8],
    expected: Expected<'_>,
    is_of_status: bool,
) -> Result<(), Mismatch> {
    let version = version_of(sent)?;
    if sent.kind.is_empty() {
        return Err(missing_kind(json));
    }
    if sent.api_version.is_empty() && has_null(json, "apiVersion") {
        let why = ".apiVersion accessor error: <nil> is of the type <nil>, expected string";
        return Err(Mismatch::Unknown(why.to_owned()));
    }
    if sent.api_version.is_empty() {
        let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
        return Err(ApiError::internal(why).into());
    }
    if is_of_status {
        return Ok(());
    }
    let fields = [
        ("kind", &*sent.kind, expected.kind),
        ("apiVersion", &*sent.api_version, expected.api_version),
    ];
    check_fields(sent, &version.group, &fields, json)
}

/// 422 if one of `fields` has another value than the expected one. `json` is the document, of the kind `sent` in `group`.
fn check_fields(sent: &TypeMeta, group: &str, fields: &[(&str, &str, &str)], json: &[u8]) -> Result<(), Mismatch> {
    let mut errors = FieldErrors::default();
    for (field, found, expected) in fields {
        if found != expected {
            errors.invalid(field, *found, format!("must be {expected}"));
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    let document: Tree = serde_json::from_slice(json).unwrap_or_default();
    let name = document.pointer("/metadata/name").and_then(Tree::as_str);
    let kind = GroupKind::new(group.to_owned(), sent.kind.clone());
    Err(ApiError::invalid(&kind, name.unwrap_or_default(), &errors).into())
}

fn missing_kind(json: &[u8]) -> Mismatch {
    Mismatch::Unknown(format!(
        "Object 'Kind' is missing in '{}'",
        String::from_utf8_lossy(json)
    ))
}

/// True if the top-level field `name` of a document is `null`.
fn has_null(json: &[u8], name: &str) -> bool {
    let document: Tree = serde_json::from_slice(json).unwrap_or_default();
    document.get(name).is_some_and(Tree::is_null)
}
