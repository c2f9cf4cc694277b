//! Errors of the store, as clients see them.

use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiError;
use planesmith_store::{Stale, WriteError};

/// The message of the answer to a request that comes after the store was closed, which is the end of the server.
pub const STORE_CLOSED: &str = "the store is closed";

/// The message of the answer to a write that the end of the store has interrupted.
pub const STORE_CLOSED_MEANWHILE: &str = planesmith_store::CLOSED_MEANWHILE;

/// The error for a client when the newest state of objects of `kind` is unknown.
pub(crate) fn stale(why: &Stale, kind: &ResourceFacts) -> ApiError {
    if *why == Stale::Closed {
        return ApiError::service_unavailable(STORE_CLOSED);
    }
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

#[cfg(test)]
mod tests {
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::object::Resource as _;
    use planesmith_store::Revision;

    use super::*;

    /// A kind.
    #[derive(Clone, Debug, Default, PartialEq, planesmith_machinery::Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Thing")]
    struct Thing {
        /// Metadata.
        metadata: ObjectMeta,
    }

    #[test]
    fn the_end_of_the_store_is_no_timeout() {
        let kind = Thing::RESOURCE;
        let closed = stale(&Stale::Closed, kind);
        assert_eq!((closed.code(), closed.message()), (503, STORE_CLOSED));
        let late = stale(&Stale::Late(Revision(1)), kind);
        assert_eq!(late.code(), 500);
    }
}
