//! Subresources with a handler of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind};
use planesmith_machinery::status::ApiResult;

use super::{Call, Endpoint};
use crate::discovery::ServedSubresource;
use crate::stores::Stores;

/// Answers the requests for one subresource.
pub trait Subresource: Send + Sync {
    /// The supported verbs and the kind; the name is filled in from the facts.
    fn served(&self) -> ServedSubresource;

    /// Answers one request.
    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>>;
}

/// The handlers of one kind, by name of the subresource.
#[derive(Clone, Default)]
pub struct Subresources {
    handlers: BTreeMap<&'static str, Arc<dyn Subresource>>,
}

impl Subresources {
    /// Handles `name` with `handler`. Has no effect unless the kind declares the subresource.
    pub fn insert(&mut self, name: &'static str, handler: Arc<dyn Subresource>) {
        self.handlers.insert(name, handler);
    }

    /// The handler of `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Subresource>> {
        self.handlers.get(name)
    }
}

impl std::fmt::Debug for Subresources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.handlers.keys()).finish()
    }
}

impl Stores {
    /// Handles the subresource `name` of the kind behind `resource` of `group` with `handler`, in every version that
    /// declares it. Endpoints that were created before do not have it.
    pub fn handle(&self, group: &str, resource: &str, name: &'static str, handler: Arc<dyn Subresource>) {
        self.attachments()
            .change(group, resource, |known: Option<Subresources>| {
                let mut handlers = known.unwrap_or_default();
                handlers.insert(name, handler);
                handlers
            });
    }

    /// The handlers of subresources of a kind.
    #[must_use]
    pub fn subresources(&self, facts: &ResourceFacts) -> Subresources {
        self.attachments().get(facts).unwrap_or_default()
    }

    /// The subresources of a kind without a handler: declared with a handler of their own, which was not passed to
    /// [`Stores::handle`].
    #[must_use]
    pub fn unhandled(&self, facts: &ResourceFacts) -> Vec<&'static str> {
        let handlers = self.subresources(facts);
        let declared = facts.subresources.iter();
        let unhandled = declared.filter(|subresource| {
            matches!(subresource.kind, SubresourceKind::Other) && handlers.get(subresource.name).is_none()
        });
        unhandled.map(|subresource| subresource.name).collect()
    }
}
