//! The subresource `finalize`.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::discovery::ServedSubresource;
use crate::endpoint::{Call, Endpoint, Subresource};
use crate::request::Verb;

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
