//! Kinds that are not stored.

use futures_util::future::BoxFuture;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;

use super::{Call, Submission};

/// Answers what is posted to a kind that is not stored; see `create_only` of `#[resource(...)]`.
pub trait Responder: Send + Sync {
    /// The answer: the object with its status, in the storage version of the kind.
    ///
    /// Calls [`Submission::admit`] when its own checks are done.
    fn answer<'a>(
        &'a self,
        call: &'a Call,
        submission: &'a mut Submission<'_>,
    ) -> BoxFuture<'a, ApiResult<Box<dyn Object>>>;
}
