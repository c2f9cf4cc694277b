//! Reads of kinds whose objects are computed for each request.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use planesmith_machinery::json;
use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::status::ApiResult;
use planesmith_store::Entry;

use super::selection::Selection;
use crate::encodings::Subject;
use crate::endpoint::{Call, Endpoint, ListPage, Source};
use crate::negotiation::{Acceptable, negotiate};
use crate::options::ListOptions;
use crate::stores::row_of;

impl Endpoint {
    /// Answers with one of the objects of `source`.
    pub(super) async fn get_computed(&self, call: &Call, source: &dyn Source) -> ApiResult<Response> {
        let output = negotiate(&call.parts, Acceptable::Object)?;
        call.refuse_export()?;
        let object = self
            .encodings()
            .in_version(source.one(call.namespace(), call.name()).await?)?;
        self.render(StatusCode::OK, output, call.query(), Subject::Object(&*object))
    }

    /// Answers with the requested objects of `source`, without pages.
    pub(super) async fn list_computed(&self, call: &Call, source: &dyn Source) -> ApiResult<Response> {
        let output = negotiate(&call.parts, Acceptable::Collection)?;
        let options = ListOptions::for_list(call.query())?;
        let selection = Selection::new(&options, self.kind(), call.ctx.info.name())?;
        let mut entries = Vec::new();
        for object in source.all(call.namespace()).await? {
            let meta = object.meta();
            let key = self.store().key(&meta.namespace, &meta.name)?;
            let entry = Entry::unstored(&key, Bytes::from(json::to_vec(&*object)), row_of(&*object).view());
            if selection.matches(self.store(), &entry) {
                entries.push(Arc::new(entry));
            }
        }
        let page = ListPage {
            meta: ListMeta::default(),
            entries,
            // None of them is stored.
            superseded: self.store().collection().superseded_bytes(),
        };
        self.render_list(call, output, page).await
    }
}
