//! Objects and lists in the negotiated encoding.

use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use planesmith_machinery::meta::PartialObjectMetadata;
use planesmith_machinery::protobuf;
use planesmith_machinery::status::ApiResult;

use super::Endpoint;
use crate::encodings::Subject;
use crate::negotiation::{Acceptable, Format, Output, Target};
use crate::request::Query;
use crate::response;
use crate::table;

pub(super) const PARTIAL_API_VERSION: &str = "meta.k8s.io/v1";

/// The API version of a PartialObjectMetadata.
pub(crate) fn partial_api_version(output: Output) -> &'static str {
    match output.beta {
        true => "meta.k8s.io/v1beta1",
        false => PARTIAL_API_VERSION,
    }
}
pub(crate) const PARTIAL_KIND: &str = "PartialObjectMetadata";

impl Endpoint {
    /// Negotiates the encoding of an answer with the client.
    ///
    /// # Errors
    ///
    /// 406 when the client accepts none of the offered encodings.
    pub(crate) fn negotiate(&self, request: &Parts, acceptable: Acceptable) -> ApiResult<Output> {
        self.representation().negotiate(request, acceptable)
    }

    /// Answers with one object.
    pub(crate) fn render(
        &self,
        code: StatusCode,
        output: Output,
        query: Query<'_>,
        subject: Subject<'_>,
    ) -> ApiResult<Response> {
        let body = match (output.target, output.format) {
            (Target::Table, _) => {
                let shown = table::row_object(query)?;
                response::encode_json(
                    output,
                    table::of_one(self.kind(), subject, self.encodings(), shown, self.now(), true)?,
                )
            }
            (Target::Object, Format::Protobuf) => {
                let message = subject.message(self.encodings())?;
                envelope(&self.kind().api_version, &self.kind().kind, &message)
            }
            (Target::PartialObject, Format::Protobuf) => {
                let message = subject.metadata_message(self.encodings())?;
                envelope(partial_api_version(output), PARTIAL_KIND, &message)
            }
            (Target::Object, Format::Json | Format::Yaml | Format::Cbor) => {
                response::encode_json(output, with_room(&subject.json(self.encodings())?))
            }
            (Target::PartialObject, Format::Json | Format::Yaml | Format::Cbor) => {
                let metadata = subject.metadata(self.encodings())?;
                response::encode_json(
                    output,
                    [PartialObjectMetadata::OPEN.as_bytes(), &metadata, b"}"].concat(),
                )
            }
            (Target::PartialObjectList, _) => return Err(self.representation().not_a_list(self.kind())),
        };
        Ok(response::bytes(code, output.format.media_type(), body))
    }
}

pub(crate) fn envelope(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 64);
    protobuf::wrap(api_version, kind, &mut out, |out| out.extend_from_slice(message));
    out
}

/// A copy with capacity for the final newline.
fn with_room(bytes: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(bytes.len() + 1);
    copy.extend_from_slice(bytes);
    copy
}
