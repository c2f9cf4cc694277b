//! Kinds that are not stored.

use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_machinery::status::ApiResult;

use super::{Call, Submission};

/// Answers what is posted to a kind that is not stored; see `create_only` of `#[resource(...)]`.
pub trait Responder: Send + Sync {
    /// The answer: usually [`Submission::respond`] with the object and its status.
    ///
    /// Calls [`Submission::admit`] when its own checks are done.
    fn answer<'a>(&'a self, call: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>>;
}
