//! Errors of the store, as clients see them.

use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiError;
use planesmith_store::{Stale, WriteError};

/// The message of the answer to a request that comes after the store was closed, which is the end of the server.
pub const STORE_CLOSED: &str = "the store is closed";

/// The error for a client when the newest state of objects of `kind` is unknown.
pub(crate) fn stale(why: &Stale, kind: &ResourceFacts) -> ApiError {
    tracing::warn!(resource = %kind.group_resource(), error = %why, "the newest state of the store is unknown");
    ApiError::server_timeout(&kind.group_resource(), "get", 1)
}

/// The error for a client when the store did not perform a write, other than for a conflict.
pub(crate) fn store_failure(error: &WriteError) -> ApiError {
    match error {
        WriteError::Full => ApiError::storage_full(),
        WriteError::TooLarge { limit, .. } => ApiError::too_large(&format!("limit is {limit}")),
        WriteError::Closed => ApiError::service_unavailable(STORE_CLOSED),
        // The error contains no file name, and only an administrator can repair the store.
        WriteError::ReadOnly(_) => ApiError::internal(error.to_string()),
        // As kube-apiserver's error of a transformer.
        WriteError::Transform(reason) => ApiError::internal(reason.to_string()),
        WriteError::Io(_) => ApiError::internal("the store could not write, and the outcome of the write is unknown"),
        // kube-apiserver answers etcd's errors as they are.
        WriteError::Unavailable(reason) | WriteError::OutcomeUnknown(reason) => ApiError::unnamed(500, &**reason),
        WriteError::Conflict { .. } => ApiError::internal("the store refused the write"),
    }
}
