//! Failures of requests that never reach an object: paths, methods, media types, sizes.

use super::{ApiError, Details, Reason};
use crate::group_version::GroupResource;

impl ApiError {
    /// 400: the request is malformed.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Reason::BadRequest, message)
    }

    /// 404: the path is not served.
    #[must_use]
    pub fn path_not_found() -> Self {
        Self::generic(Reason::NotFound, "the server could not find the requested resource")
    }

    /// 405: the path does not support this method.
    #[must_use]
    pub fn method_not_allowed() -> Self {
        Self::generic(
            Reason::MethodNotAllowed,
            "the server does not allow this method on the requested resource",
        )
    }

    /// 405: the resource does not support this verb.
    #[must_use]
    pub fn verb_not_supported(resource: &GroupResource, verb: &str) -> Self {
        let quoted = planesmith_wire::go_format::quote(&resource.to_string());
        Self::new(
            Reason::MethodNotAllowed,
            format!("{verb} is not supported on resources of kind {quoted}"),
        )
        .about_resource(resource, "")
    }

    /// 406: the server cannot produce any media type that the client accepts.
    #[must_use]
    pub fn not_acceptable(offered: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", offered.join(", "));
        Self::new(Reason::NotAcceptable, message)
    }

    /// 406: like `not_acceptable`, for a response of another kind such as a Table.
    #[must_use]
    pub fn not_acceptable_as(target: &str, offered: &[&str]) -> Self {
        let offered = offered.join(", ");
        let message = format!("only the following media types are accepted when converting to {target}: {offered}");
        Self::new(Reason::NotAcceptable, message)
    }

    /// 415: the media type of the body is not supported.
    #[must_use]
    pub fn unsupported_media_type(taken: &[&str]) -> Self {
        let taken = taken.join(", ");
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {taken}");
        Self::new(Reason::UnsupportedMediaType, message)
    }

    /// 413: the request is too large.
    #[must_use]
    pub fn too_large(message: &str) -> Self {
        Self::new(
            Reason::RequestEntityTooLarge,
            format!("Request entity too large: {message}"),
        )
    }

    /// 413: the body exceeds the size limit.
    #[must_use]
    pub fn body_too_large(limit: usize) -> Self {
        Self::too_large(&format!("limit is {limit}"))
    }

    /// 422 without causes: a patch cannot be applied.
    #[must_use]
    pub fn patch_rejected() -> Self {
        Self::generic(
            Reason::Invalid,
            "the server rejected our request due to an error in our request",
        )
    }

    /// 429: the limit of concurrent requests is reached.
    #[must_use]
    pub fn overloaded() -> Self {
        Self::too_many_requests("Too many requests, please try again later.", 1)
    }

    /// 400: the name of the object differs from the name in the path.
    #[must_use]
    pub fn name_mismatch(in_object: &str, in_path: &str) -> Self {
        Self::bad_request(format!(
            "the name of the object ({in_object}) does not match the name on the URL ({in_path})"
        ))
    }

    /// 400: the namespace of the object differs from the namespace in the path.
    #[must_use]
    pub fn namespace_mismatch() -> Self {
        Self::bad_request("the namespace of the provided object does not match the namespace sent on the request")
    }

    /// 400: the API version of the object differs from the version in the path.
    #[must_use]
    pub fn version_mismatch(in_object: &str, expected: &str) -> Self {
        Self::bad_request(format!(
            "the API version in the data ({in_object}) does not match the expected API version ({expected})"
        ))
    }

    /// 500 without a reason: an object to be created has a resourceVersion.
    #[must_use]
    pub fn version_on_create() -> Self {
        Self::unnamed(500, "resourceVersion should not be set on objects to be created")
    }

    /// Returns the failure that kube-apiserver sends when it knows only the code; its details are present but empty.
    fn generic(reason: Reason, message: &str) -> Self {
        let mut error = Self::new(reason, message);
        error.status_mut().details = Some(Details::default());
        error
    }
}
