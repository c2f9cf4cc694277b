//! Creation of objects.

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use planesmith_machinery::heap_size;
use planesmith_machinery::status::ApiResult;

use crate::endpoint::{Call, Endpoint};
use crate::metrics::BodyUse;
use crate::negotiation::Acceptable;
use crate::options::WriteOptions;
use crate::write::{Decoded, Write};

impl Endpoint {
    /// Creates an object.
    pub(crate) async fn create(&self, call: &Call, body: Body) -> ApiResult<Response> {
        let output = self.negotiate(&call.parts, Acceptable::Object)?;
        let body = self.read_body(call, body, BodyUse::Create).await?;
        let options = WriteOptions::for_create(call.query())?;
        let begin = || -> ApiResult<_> {
            let decoded = Decoded::read(self, call, self.kind(), &options, &body)?;
            let write = Write::new(self, call, &options, body.len());
            let defaulted = decoded.without_system_fields().default_new(&write)?;
            Ok((write, defaulted))
        };
        let (write, defaulted) = self.run(call, body.len(), body.cost(), begin).await??;
        drop(body);
        let bodies = self.stores().large_bodies();
        let _counted = bodies.count(write.size, || heap_size::of_object(defaulted.object()))?;
        let committed = defaulted.create(&write).await?;
        write.respond(StatusCode::CREATED, output, committed).await
    }
}
