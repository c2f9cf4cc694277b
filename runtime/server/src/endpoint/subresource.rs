//! Subresources with a handler of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_machinery::status::{ApiError, ApiResult};

use super::{Call, Endpoint};
use crate::request::Verb;
use crate::routes::ServedSubresource;

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

/// `finalize`: an update of everything but the status, which skips the restrictions of ordinary updates. It removes the
/// finalizers of the spec, such as `spec.finalizers` of namespaces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finalize;

impl Subresource for Finalize {
    fn served(&self) -> ServedSubresource {
        ServedSubresource {
            name: "finalize".into(),
            kind: None,
            verbs: vec![Verb::Update],
            open_ended: false,
        }
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            match call.ctx.info.verb() {
                Verb::Update => endpoint.update_finalizers(call, body).await,
                _ => Err(ApiError::method_not_allowed()),
            }
        })
    }
}
