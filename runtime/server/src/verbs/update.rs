//! Replacement of objects and of parts of them.

use axum::body::Body;
use axum::response::Response;
use planesmith_machinery::heap_size;
use planesmith_machinery::status::ApiResult;

use crate::endpoint::{Call, Endpoint};
use crate::metrics::BodyUse;
use crate::negotiation::Acceptable;
use crate::options::WriteOptions;
use crate::write::{Change, Decoded, Part, PartStrategy, Write};

impl Endpoint {
    /// Replaces an object.
    pub(crate) async fn update(&self, call: &Call, body: Body) -> ApiResult<Response> {
        self.replace(call, body, Part::Object).await
    }

    /// Replaces the status of an object.
    pub(crate) async fn update_status(&self, call: &Call, body: Body) -> ApiResult<Response> {
        self.replace(call, body, Part::Status).await
    }

    /// Replaces the finalizers of an object's spec, and its metadata.
    pub(crate) async fn update_finalizers(&self, call: &Call, body: Body) -> ApiResult<Response> {
        self.replace(call, body, Part::Finalizers).await
    }

    /// Replaces a part of an object that has rules of its own.
    pub(crate) async fn update_part(&self, call: &Call, body: Body, part: &dyn PartStrategy) -> ApiResult<Response> {
        self.replace(call, body, Part::Own(part)).await
    }

    async fn replace(&self, call: &Call, body: Body, part: Part<'_>) -> ApiResult<Response> {
        let output = self.negotiate(
            &call.parts,
            Acceptable::of_object(&self.kind().extensions, call.ctx.info.subresource()),
        )?;
        let body = self.read_body(call, body, BodyUse::Update).await?;
        let options = WriteOptions::for_update(call.query())?;
        let begin = || -> ApiResult<_> {
            let decoded = Decoded::read(self, call, self.kind(), &options, &body)?;
            let write = Write::new(self, call, &options, body.len()).of_part(part);
            let defaulted = decoded.default_replacement(&write)?;
            Ok((write, defaulted))
        };
        let (write, defaulted) = self.run(call, body.len(), body.cost(), begin).await??;
        drop(body);
        let object = defaulted.object();
        let bodies = self.stores().large_bodies();
        let _counted = bodies.count(write.size, || heap_size::of_object(object))?;
        let copy = || Ok(defaulted.copy());
        let change = Change {
            part,
            make: &|_| copy(),
            otherwise: part.creates(self.kind()).then_some(&copy),
            uid: &object.meta().uid,
        };
        let changed = write.change(call.name(), &change).await?;
        write.respond(changed.code(), output, changed.committed).await
    }
}
