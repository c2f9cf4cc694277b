//! Kinds that are not stored.

use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_machinery::status::ApiResult;

use super::{Call, Submission};

/// Answers POST requests for a kind that is not stored; see `create_only` of `#[resource(...)]`.
pub trait Responder: Send + Sync {
    /// The answer: usually [`Submission::respond`] with the object and its status.
    ///
    /// Calls [`Submission::admit`] after its own checks.
    fn answer<'a>(&'a self, call: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>>;
}
