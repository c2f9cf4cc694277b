//! Kinds that are not stored.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_machinery::status::ApiResult;

use super::Submission;
use crate::endpoint::{Call, CreateHandler, Endpoint};
use crate::stores::Stores;

/// Answers POST requests for a kind that is not stored; see `create_only` of `#[resource(...)]`.
pub trait Responder: Send + Sync {
    /// The answer: usually [`Submission::respond`] with the object and its status.
    ///
    /// Calls [`Submission::admit`] after its own checks.
    fn answer<'a>(&'a self, call: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>>;
}

/// A [`Responder`] as the handler of creates.
struct ResponderHandler(Arc<dyn Responder>);

impl CreateHandler for ResponderHandler {
    fn create<'a>(&'a self, endpoint: &'a Endpoint, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let mut submission = endpoint.submit_own(call, body).await?;
            self.0.answer(call, &mut submission).await
        })
    }
}

impl Stores {
    /// Answers POST requests for `resource` of `group`, a kind that is declared `create_only`, with `responder`.
    /// Endpoints that were created before do not have it.
    pub fn answer(&self, group: &str, resource: &str, responder: Arc<dyn Responder>) {
        self.handle_creates(group, resource, Arc::new(ResponderHandler(responder)));
    }
}
