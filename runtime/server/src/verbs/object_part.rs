//! Parts of objects that have paths of their own, such as `pods/resize`.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::strategy::Context;

use crate::discovery::ServedSubresource;
use crate::endpoint::{Call, Endpoint, Subresource};
use crate::request::Verb;
use crate::write::PartStrategy;

/// A part of the objects of one kind. It is read, replaced, patched and applied like the object, and nothing else is
/// written. Its functions get objects of the storage version.
#[derive(Clone, Copy, Debug)]
pub struct ObjectPart<R> {
    /// Dotted paths that the field manager of this part does not own. As in kube-apiserver, it owns everything else that
    /// it sends, even values that the preparation resets.
    pub resets: &'static [&'static str],
    /// Copies the fields that a write cannot change from the old object (last).
    pub prepare: fn(&mut R, &Context<'_>, &R),
    /// Reports what is wrong with a replacement of the old object (second).
    pub check: fn(&R, &R, &mut FieldErrors),
}

impl<R: Resource> PartStrategy for ObjectPart<R> {
    fn resets(&self) -> &'static [&'static str] {
        self.resets
    }

    fn prepare(&self, new: &mut dyn Object, context: &Context<'_>, old: &dyn Object) {
        if let (Some(new), Some(old)) = (new.downcast_mut(), old.downcast_ref()) {
            (self.prepare)(new, context, old);
        }
    }

    fn check(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        if let (Some(new), Some(old)) = (new.downcast_ref(), old.downcast_ref()) {
            (self.check)(new, old, errors);
        }
    }
}

impl<R: Resource> Subresource for ObjectPart<R> {
    fn served(&self) -> ServedSubresource {
        ServedSubresource {
            name: "".into(),
            kind: None,
            verbs: vec![Verb::Get, Verb::Patch, Verb::Update],
            open_ended: false,
        }
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            match call.ctx.info.verb() {
                Verb::Get => endpoint.get(call).await,
                Verb::Update => endpoint.update_part(call, body, self).await,
                Verb::Patch => endpoint.patch_own_part(call, body, self).await,
                _ => Err(ApiError::method_not_allowed()),
            }
        })
    }
}
