//! Creates of kinds that are not stored.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;

use super::{Call, Endpoint};
use crate::stores::Stores;

/// Answers POST requests for a kind that is not stored; see `create_only` of `#[resource(...)]`.
pub(crate) trait CreateHandler: Send + Sync {
    /// Answers one request.
    fn create<'a>(&'a self, endpoint: &'a Endpoint, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>>;
}

impl Stores {
    /// Answers POST requests for `resource` of `group` with `handler`. Endpoints that were created before do not have
    /// it.
    pub(crate) fn handle_creates(&self, group: &str, resource: &str, handler: Arc<dyn CreateHandler>) {
        self.attachments().change(group, resource, |_| handler);
    }

    /// The handler of creates of a kind that is not stored.
    pub(super) fn create_handler(&self, facts: &ResourceFacts) -> Option<Arc<dyn CreateHandler>> {
        self.attachments().get(facts)
    }
}
