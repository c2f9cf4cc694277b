//! Objects and lists in the negotiated encoding.

use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use planesmith_machinery::meta::PartialObjectMetadata;
use planesmith_machinery::protobuf;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};

use super::Endpoint;
use crate::encodings::Subject;
use crate::negotiation::{Acceptable, Format, Output, Target, negotiate, negotiate_custom};
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
    pub(crate) fn negotiate(&self, request: &Parts, offer: Acceptable) -> ApiResult<Output> {
        match self.kind().custom {
            Some(_) => negotiate_custom(request, offer),
            None => negotiate(request, offer),
        }
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
                let shown = table::shown(query)?;
                response::text(
                    output,
                    table::of_one(self.kind(), subject, self.encodings(), shown, true)?,
                )
            }
            (Target::Object, Format::Protobuf) => {
                let message = subject.message(self.encodings())?;
                envelope(self.kind().api_version, self.kind().kind, &message)
            }
            (Target::PartialObject, Format::Protobuf) => {
                let message = subject.metadata_message(self.encodings())?;
                envelope(partial_api_version(output), PARTIAL_KIND, &message)
            }
            (Target::Object, Format::Json | Format::Yaml | Format::Cbor) => {
                response::text(output, with_room(&subject.json(self.encodings())?))
            }
            (Target::PartialObject, Format::Json | Format::Yaml | Format::Cbor) => {
                let metadata = subject.metadata(self.encodings())?;
                response::text(
                    output,
                    [PartialObjectMetadata::OPEN.as_bytes(), &metadata, b"}"].concat(),
                )
            }
            (Target::PartialObjectList, _) => return Err(self.is_no_list()),
        };
        Ok(response::bytes(code, output.format.media_type(), body))
    }

    fn is_no_list(&self) -> ApiError {
        if self.kind().custom.is_some() {
            // A tree reports its missing items before it is found not to be a list.
            return ApiError::unnamed(500, "content is not a list");
        }
        no_list(self.kind().group, self.kind().kind)
    }
}

/// 406: the list of metadata cannot be requested of a single object.
pub(crate) fn no_list(group: &str, kind: &str) -> ApiError {
    let kind = go_type(group, kind);
    let why = "you requested PartialObjectMetadataList, but the requested object is not a list";
    ApiError::new(Reason::NotAcceptable, format!("{why} ({kind})"))
}

/// The Go type behind a kind, as messages print it.
pub(super) fn go_type(group: &str, kind: &str) -> String {
    let package = group
        .split('.')
        .next()
        .filter(|package| !package.is_empty())
        .unwrap_or("core");
    format!("*{package}.{kind}")
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
