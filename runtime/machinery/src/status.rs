//! Failures as clients see them: one `Status` with code, reason, message and details.
//!
//! Messages are protocol: they are worded exactly as kube-apiserver words them.

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

/// A failure with everything that its `Status` says.
///
/// One pointer wide, so that results which carry it stay small.
#[derive(Clone, PartialEq)]
pub struct ApiError(Box<Status>);

/// The result of something that a client asked for.
pub type ApiResult<T> = Result<T, ApiError>;

/// Content of a `Status` object of `v1`, without kind and API version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Token to go on with a list that broke off; usually empty.
    pub continue_token: String,
    /// HTTP status code.
    pub code: i32,
    /// The reason for programs; absent for failures that have no name.
    pub reason: Option<Reason>,
    /// The reason for people.
    pub message: String,
    /// The object that the failure is about.
    pub details: Option<Details>,
}

/// The object that a failure is about.
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
    /// Single problems.
    pub causes: Vec<Cause>,
    /// Seconds after which a new attempt makes sense; 0 means unsaid.
    pub retry_after_seconds: i32,
}

impl ApiError {
    /// A failure with a reason that carries its own code.
    #[must_use]
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self(Box::new(Status {
            code: reason.code(),
            reason: Some(reason),
            message: message.into(),
            ..Status::default()
        }))
    }

    /// A failure that has no reason: what kube-apiserver answers for plain Go errors.
    #[must_use]
    pub fn unnamed(code: i32, message: impl Into<String>) -> Self {
        Self(Box::new(Status {
            code,
            message: message.into(),
            ..Status::default()
        }))
    }

    /// The whole status.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.0
    }

    /// The whole status, to be changed.
    pub fn status_mut(&mut self) -> &mut Status {
        &mut self.0
    }

    /// The HTTP status code.
    #[must_use]
    pub fn code(&self) -> u16 {
        u16::try_from(self.0.code).unwrap_or(500)
    }

    /// The reason, when there is one.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.0.reason
    }

    /// The message for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Seconds after which a new attempt makes sense.
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

    /// Adds one problem to the details.
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

    /// The same about an object that is on its way out.
    #[must_use]
    pub fn being_deleted(mut self) -> Self {
        self.0.message.insert_str(0, "object is being deleted: ");
        self
    }

    /// 422: the object breaks rules; one cause each.
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

    /// 403: not allowed; an empty resource means that a path was asked for.
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

    /// 401: who asks is not known.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(Reason::Unauthorized, "Unauthorized")
    }

    /// 500: something broke that the client cannot repair.
    ///
    /// The text goes to the client: it must not name hosts, files or other tenants.
    #[must_use]
    pub fn internal(why: impl fmt::Display) -> Self {
        let why = why.to_string();
        Self::new(Reason::InternalError, format!("Internal error occurred: {why}")).with_cause(Cause {
            message: why,
            ..Cause::default()
        })
    }

    /// 500: the operation did not finish because of a passing trouble; try again.
    #[must_use]
    pub fn server_timeout(resource: &GroupResource, operation: &str, retry_after_seconds: i32) -> Self {
        let message = format!(
            "The {operation} operation against {resource} could not be completed at this time, please try again."
        );
        Self::new(Reason::ServerTimeout, message)
            .about_resource(resource, operation)
            .retry_after(retry_after_seconds)
    }

    /// 504: the time allowed for the request is over.
    #[must_use]
    pub fn timeout(why: impl fmt::Display, retry_after_seconds: i32) -> Self {
        Self::new(Reason::Timeout, format!("Timeout: {why}")).retry_after(retry_after_seconds)
    }

    /// 503: the server cannot do this now.
    #[must_use]
    pub fn service_unavailable(why: impl Into<String>) -> Self {
        Self::new(Reason::ServiceUnavailable, why)
    }

    /// 429: come back later, for a reason of its own.
    #[must_use]
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: i32) -> Self {
        Self::new(Reason::TooManyRequests, message).retry_after(retry_after_seconds)
    }

    /// 507 in spirit, sent as 500: the store has no room; nothing was written.
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
