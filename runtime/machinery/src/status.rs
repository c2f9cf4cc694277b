//! Failures that clients see: a `Status` with code, reason, message and details.
//!
//! Messages are part of the protocol: their wording is exactly that of kube-apiserver.

mod conflict;
mod expired;
mod reason;
mod request;

use std::fmt;

pub use crate::field_error::Cause;

use crate::field_error::FieldErrors;
use crate::group_version::{GroupKind, GroupResource};

pub use expired::Expired;
pub use reason::Reason;

/// A failure with the content of its `Status`.
///
/// One pointer in size, so that results which contain it remain small.
#[derive(Clone, PartialEq)]
pub struct ApiError(Box<Status>);

/// The result of a client request.
pub type ApiResult<T> = Result<T, ApiError>;

/// Content of a `Status` object of `v1`, without kind and API version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Token to continue an expired list; usually empty.
    pub continue_token: String,
    /// HTTP status code.
    pub code: i32,
    /// Machine-readable reason; absent for failures without one.
    pub reason: Option<Reason>,
    /// A reason that another program chose and that is not a [`Reason`]; empty if there is none.
    pub own_reason: String,
    /// Human-readable message.
    pub message: String,
    /// The object and the causes; absent if nothing more is known.
    pub details: Option<Details>,
}

/// The object of a failure and its causes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Name of the object.
    pub name: String,
    /// API group.
    pub group: String,
    /// Resource or kind.
    pub kind: String,
    /// UID of the object.
    pub uid: String,
    /// Individual causes.
    pub causes: Vec<Cause>,
    /// Seconds to wait before a retry; 0 means unset.
    pub retry_after_seconds: i32,
}

impl ApiError {
    /// Returns a failure with a reason; the reason determines the code.
    #[must_use]
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self(Box::new(Status {
            code: reason.code(),
            reason: Some(reason),
            message: message.into(),
            ..Status::default()
        }))
    }

    /// Returns a failure without a reason, as kube-apiserver does for plain Go errors.
    #[must_use]
    pub fn unnamed(code: i32, message: impl Into<String>) -> Self {
        Self(Box::new(Status {
            code,
            message: message.into(),
            ..Status::default()
        }))
    }

    /// Returns the whole status.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.0
    }

    /// Returns the whole status for modification.
    pub fn status_mut(&mut self) -> &mut Status {
        &mut self.0
    }

    /// Returns the HTTP status code.
    #[must_use]
    pub fn code(&self) -> u16 {
        u16::try_from(self.0.code).unwrap_or(500)
    }

    /// Returns the reason, if there is one.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.0.reason
    }

    /// Returns the human-readable message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the seconds to wait before a retry; `None` if unset.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u32> {
        let seconds = self.0.details.as_ref()?.retry_after_seconds;
        u32::try_from(seconds).ok().filter(|seconds| *seconds > 0)
    }

    fn about(mut self, group: &str, kind: &str, name: &str) -> Self {
        let details = self.details();
        details.group = group.to_owned();
        details.kind = kind.to_owned();
        details.name = name.to_owned();
        self
    }

    fn about_resource(self, resource: &GroupResource, name: &str) -> Self {
        self.about(&resource.group, &resource.resource, name)
    }

    fn retry_after(mut self, seconds: i32) -> Self {
        self.details().retry_after_seconds = seconds;
        self
    }

    /// Adds one cause to the details.
    #[must_use]
    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.details().causes.push(cause);
        self
    }

    fn details(&mut self) -> &mut Details {
        self.0.details.get_or_insert_default()
    }
}

impl ApiError {
    /// 404: there is no object of this name.
    #[must_use]
    pub fn not_found(resource: &GroupResource, name: &str) -> Self {
        let message = format!("{resource} {} not found", planesmith_wire::go_format::quote(name));
        Self::new(Reason::NotFound, message).about_resource(resource, name)
    }

    /// 409: an object of this name exists.
    #[must_use]
    pub fn already_exists(resource: &GroupResource, name: &str) -> Self {
        let message = format!("{resource} {} already exists", planesmith_wire::go_format::quote(name));
        Self::new(Reason::AlreadyExists, message).about_resource(resource, name)
    }

    /// 409: every generated name that was tried is taken; try again in a second.
    #[must_use]
    pub fn generated_name_taken(resource: &GroupResource, name: &str) -> Self {
        let mut error = Self::already_exists(resource, name).retry_after(1);
        error
            .0
            .message
            .push_str(", the server was not able to generate a unique name for the object");
        error
    }

    /// Adds to the message that the object is being deleted.
    #[must_use]
    pub fn being_deleted(mut self) -> Self {
        self.0.message.insert_str(0, "object is being deleted: ");
        self
    }

    /// 422: the object is invalid; one cause per error.
    #[must_use]
    pub fn invalid(kind: &GroupKind, name: &str, errors: &FieldErrors) -> Self {
        let quoted = planesmith_wire::go_format::quote(name);
        let message = match errors.joined() {
            None => format!("{kind} {quoted} is invalid"),
            Some(joined) => format!("{kind} {quoted} is invalid: {joined}"),
        };
        let mut error = Self::new(Reason::Invalid, message).about(&kind.group, &kind.kind, name);
        error.details().causes = errors.causes();
        error
    }

    /// 403: not allowed; an empty resource means a request for a non-resource path.
    #[must_use]
    pub fn forbidden(resource: &GroupResource, name: &str, why: impl fmt::Display) -> Self {
        let message = if resource.is_empty() {
            format!("forbidden: {why}")
        } else if name.is_empty() {
            format!("{resource} is forbidden: {why}")
        } else {
            format!(
                "{resource} {} is forbidden: {why}",
                planesmith_wire::go_format::quote(name)
            )
        };
        Self::new(Reason::Forbidden, message).about_resource(resource, name)
    }

    /// 401: the client is not authenticated.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(Reason::Unauthorized, "Unauthorized")
    }

    /// 500: an internal failure that the client cannot correct.
    ///
    /// The text is sent to the client: it must not contain hosts, files or other tenants.
    #[must_use]
    pub fn internal(why: impl fmt::Display) -> Self {
        let why = why.to_string();
        Self::new(Reason::InternalError, format!("Internal error occurred: {why}")).with_cause(Cause {
            message: why,
            ..Cause::default()
        })
    }

    /// 500: the operation failed because of a temporary condition; the client can retry.
    #[must_use]
    pub fn server_timeout(resource: &GroupResource, operation: &str, retry_after_seconds: i32) -> Self {
        let message = format!(
            "The {operation} operation against {resource} could not be completed at this time, please try again."
        );
        Self::new(Reason::ServerTimeout, message)
            .about_resource(resource, operation)
            .retry_after(retry_after_seconds)
    }

    /// 504: the request exceeded its deadline.
    #[must_use]
    pub fn timeout(why: impl fmt::Display, retry_after_seconds: i32) -> Self {
        Self::new(Reason::Timeout, format!("Timeout: {why}")).retry_after(retry_after_seconds)
    }

    /// 503: the server is temporarily unable to serve the request.
    #[must_use]
    pub fn service_unavailable(why: impl Into<String>) -> Self {
        Self::new(Reason::ServiceUnavailable, why)
    }

    /// 429: the client must wait; the message contains the reason.
    #[must_use]
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: i32) -> Self {
        Self::new(Reason::TooManyRequests, message).retry_after(retry_after_seconds)
    }

    /// The store is full and nothing was written. Corresponds to 507 but is sent as 500.
    #[must_use]
    pub fn storage_full() -> Self {
        Self::internal("the store is full, nothing was written; free space and repeat the request")
    }
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests;
