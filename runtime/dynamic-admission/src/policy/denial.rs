//! Refusals of requests by policies.

use planesmith_access::admission::Attributes;
use planesmith_machinery::field_error::Cause;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, Reason};

/// A violation of a policy, or a policy that could not be evaluated.
#[derive(Clone, Debug)]
pub(super) struct Denial {
    pub(super) policy: String,
    /// The name of the binding; `None` if no binding is concerned.
    pub(super) binding: Option<String>,
    pub(super) message: String,
    /// The reason in the answer; `None` for the default.
    pub(super) reason: Option<String>,
}

impl Denial {
    /// A policy or binding that cannot be used for the request.
    pub(super) fn misconfigured(policy: &str, binding: Option<&str>, why: &str) -> Self {
        let subject = if binding.is_some() { "binding" } else { "policy" };
        Self {
            policy: policy.to_owned(),
            binding: binding.map(str::to_owned),
            message: format!("failed to configure {subject}: {why}"),
            reason: None,
        }
    }

    /// Returns the error of a validating policy.
    pub(super) fn into_error(self, attributes: &Attributes<'_>, new: Option<&dyn Object>) -> ApiError {
        let Self { policy, message, .. } = &self;
        let message = match &self.binding {
            Some(binding) => {
                format!("ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: {message}")
            }
            None => format!("ValidatingAdmissionPolicy '{policy}' denied request: {message}"),
        };
        let mut error = attributes.forbidden(new, &message);
        let reason = self
            .reason
            .as_deref()
            .and_then(Reason::parse)
            .unwrap_or(Reason::Invalid);
        let status = error.status_mut();
        status.reason = Some(reason);
        status.code = match reason {
            Reason::Forbidden => 403,
            Reason::Unauthorized => 401,
            Reason::RequestEntityTooLarge => 413,
            _ => 422,
        };
        error.with_cause(cause(message))
    }

    /// Returns the error of mutating policies that could not be evaluated.
    pub(super) fn all(denials: &[Self], attributes: &Attributes<'_>, new: Option<&dyn Object>) -> ApiError {
        let mut error = attributes.forbidden(new, "admission request denied by policy");
        if let Some(first) = denials.first() {
            let status = error.status_mut();
            status.message = first.of_mutation();
            if let Some(reason) = first.reason.as_deref().and_then(Reason::parse) {
                status.reason = Some(reason);
            }
        }
        let causes = denials.iter().map(|denial| cause(denial.of_mutation()));
        causes.fold(error, ApiError::with_cause)
    }

    fn of_mutation(&self) -> String {
        let Self { policy, message, .. } = self;
        match &self.binding {
            Some(binding) => format!("policy '{policy}' with binding '{binding}' denied request: {message}"),
            None => format!("policy {policy:?} denied request: {message}"),
        }
    }
}

/// A cause that is nothing but a message.
fn cause(message: String) -> Cause {
    Cause {
        message,
        ..Cause::default()
    }
}
