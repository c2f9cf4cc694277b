//! 409: the object was modified concurrently, or a precondition failed.

use std::fmt;

use planesmith_wire::go_format::quote;

use super::{ApiError, Cause, Reason};
use crate::field_error::FieldErrors;
use crate::group_version::{GroupKind, GroupResource};

impl ApiError {
    /// 409: the write is not possible for the given reason.
    #[must_use]
    pub fn conflict(resource: &GroupResource, name: &str, why: impl fmt::Display) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} {}: {why}", quote(name));
        Self::new(Reason::Conflict, message).about_resource(resource, name)
    }

    /// 409: the resourceVersion of the object differs from the one in the request.
    #[must_use]
    pub fn modified(resource: &GroupResource, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// 409: a PUT or a binding has the UID of another object. `key` is the path in the store, e.g.
    /// `/registry/secrets/a/b`.
    #[must_use]
    pub fn wrong_uid_on_update(resource: &GroupResource, name: &str, key: &str, sent: &str, actual: &str) -> Self {
        Self::invalid_object(resource, name, key, ("UID", sent, actual))
    }

    /// 409: a binding has another resourceVersion.
    #[must_use]
    pub fn wrong_version_on_update(resource: &GroupResource, name: &str, key: &str, sent: &str, actual: &str) -> Self {
        Self::invalid_object(resource, name, key, ("ResourceVersion", sent, actual))
    }

    fn invalid_object(
        resource: &GroupResource,
        name: &str,
        key: &str,
        (what, sent, actual): (&str, &str, &str),
    ) -> Self {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
             {what} in precondition: {sent}, {what} in object meta: {actual}"
        );
        Self::conflict(resource, name, why)
    }

    /// 409: an apply has a UID but the object does not exist.
    #[must_use]
    pub fn uid_of_missing_object(resource: &GroupResource, name: &str, sent: &str) -> Self {
        let why = format!("uid mismatch: the provided object specified uid {sent}, and no existing object was found");
        Self::conflict(resource, name, why)
    }

    /// 409: the UID precondition of a delete failed.
    #[must_use]
    pub fn uid_precondition(kind: &GroupKind, name: &str, wanted: &str, actual: &str) -> Self {
        let why = format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({actual}). \
             The object might have been deleted and then recreated"
        );
        Self::conflict(&as_resource(kind), name, why)
    }

    /// 409: the resourceVersion precondition of a delete failed.
    #[must_use]
    pub fn version_precondition(kind: &GroupKind, name: &str, wanted: &str, actual: &str) -> Self {
        let why = format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({actual}). \
             The object might have been modified"
        );
        Self::conflict(&as_resource(kind), name, why)
    }

    /// 422: a replacement must contain a resourceVersion. The details contain the resource instead of the kind, as in
    /// kube-apiserver.
    #[must_use]
    pub fn version_missing(resource: &GroupResource, name: &str) -> Self {
        let mut errors = FieldErrors::default();
        errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
        let kind = GroupKind {
            group: resource.group.clone(),
            kind: resource.resource.clone(),
        };
        Self::invalid(&kind, name, &errors)
    }

    /// 409: an apply would change fields of other managers; one cause per field.
    #[must_use]
    pub fn apply_conflict(causes: Vec<Cause>, message: String) -> Self {
        let mut error = Self::new(Reason::Conflict, message);
        error.details().causes = causes;
        error
    }
}

/// Returns the kind as a resource: failures of delete preconditions contain the kind instead of the resource.
fn as_resource(kind: &GroupKind) -> GroupResource {
    GroupResource {
        group: kind.group.clone(),
        resource: kind.kind.clone(),
    }
}
