//! Kinds whose objects are computed for each request.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use planesmith_machinery::json;
use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_store::Entry;

use super::{Call, Endpoint, Subject};
use crate::negotiation::{Offer, negotiate};
use crate::stores::row_of;
use crate::verbs::options::ListOptions;
use crate::verbs::selection::Selection;

/// Computes the objects of a kind that is not stored, in its storage version; see `read_only` of `#[resource(...)]`.
pub trait Source: Send + Sync {
    /// The object `name`; `namespace` is empty for cluster-scoped kinds.
    fn one<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, ApiResult<Box<dyn Object>>>;

    /// All objects of a namespace, or of all namespaces.
    fn all<'a>(&'a self, namespace: &'a str) -> BoxFuture<'a, ApiResult<Vec<Box<dyn Object>>>>;
}

impl Endpoint {
    /// Answers with one of the objects of `source`.
    pub(super) async fn get_made(&self, call: &Call, source: &dyn Source) -> ApiResult<Response> {
        let output = negotiate(&call.parts, Offer::Object)?;
        let object = self
            .forms()
            .in_version(source.one(call.namespace(), call.name()).await?)?;
        self.render(StatusCode::OK, output, call.query(), Subject::Object(&*object))
    }

    /// Answers with the requested objects of `source`, without pages.
    pub(super) async fn list_made(&self, call: &Call, source: &dyn Source) -> ApiResult<Response> {
        let output = negotiate(&call.parts, Offer::Collection)?;
        let options = ListOptions::for_list(call.query())?;
        let selection = Selection::new(&options, self.kind(), call.ctx.info.name())?;
        let mut entries = Vec::new();
        for object in source.all(call.namespace()).await? {
            let meta = object.meta();
            let key = self.store().key(&meta.namespace, &meta.name)?;
            let entry = Entry::unstored(key, Bytes::from(json::to_vec(&*object)), row_of(&*object));
            if selection.matches(self.store(), &entry) {
                entries.push(Arc::new(entry));
            }
        }
        self.render_list(call, output, &ListMeta::default(), entries).await
    }
}
