//! The body of a request.

use axum::body::Body;
use bytes::Bytes;
use planesmith_machinery::status::ApiResult;

use crate::body;
use crate::endpoint::{Call, Endpoint};
use crate::metrics::BodyUse;
use crate::negotiation::Format;
use crate::offload::Cost;
use crate::request::Stage;

/// A body that was read to its end.
#[derive(Clone, Debug)]
pub(crate) struct SentBody {
    /// The encoding that the client declared.
    pub(crate) format: Format,
    pub(crate) bytes: Bytes,
}

impl SentBody {
    /// The size, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The expected cost of decoding.
    pub(crate) fn cost(&self) -> Cost {
        Cost::of_body(self.format, self.len())
    }
}

impl Endpoint {
    /// Reads the body of a write.
    ///
    /// # Errors
    ///
    /// The encoding is unknown, the body is too large, or the client disconnects.
    pub(crate) async fn read_body(&self, call: &Call, body: Body, used: BodyUse) -> ApiResult<SentBody> {
        let format = body::format(&call.parts)?;
        let bytes = self.read_bytes(call, body, used).await?;
        Ok(SentBody { format, bytes })
    }

    /// Reads a body whose encoding the verb knows.
    ///
    /// # Errors
    ///
    /// The body is too large, or the client disconnects.
    pub(crate) async fn read_bytes(&self, call: &Call, body: Body, used: BodyUse) -> ApiResult<Bytes> {
        let read = body::read(&call.parts, body, self.stores().options().body_limit);
        let body = call.ctx.timeline.wait(Stage::Read, read).await?;
        self.metrics().body(used, body.len());
        Ok(body)
    }
}
