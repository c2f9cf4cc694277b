//! Keys of objects in the store: kube-apiserver's paths, so that both can use one store.

use planesmith_machinery::names;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::status::{ApiError, ApiResult};

/// Checks that `name` can be the last part of a key.
///
/// # Errors
///
/// 400, as kube-apiserver words it.
pub fn check_name(name: &str) -> ApiResult<()> {
    if name.is_empty() {
        return Err(ApiError::bad_request("Name parameter required."));
    }
    let complaints = names::path_segment(name);
    if complaints.is_empty() {
        return Ok(());
    }
    let quoted = planesmith_machinery::go_format::quote(name);
    Err(ApiError::bad_request(format!(
        "Name parameter invalid: {quoted}: {}",
        complaints.join(";")
    )))
}

/// Namespace and name of the object under `key`, which starts with `prefix`; the namespace is empty for cluster-scoped
/// objects.
pub(super) fn split<'k>(prefix: &str, scope: Scope, key: &'k str) -> (&'k str, &'k str) {
    let rest = key.strip_prefix(prefix).unwrap_or(key);
    match scope {
        Scope::Cluster => ("", rest),
        Scope::Namespaced => rest.split_once('/').unwrap_or(("", rest)),
    }
}
