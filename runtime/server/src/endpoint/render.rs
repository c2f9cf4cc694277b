//! Objects and lists in the negotiated encoding.

use std::ops::Deref;
use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use planesmith_machinery::meta::{ObjectMeta, PartialObjectMetadata};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};
use planesmith_machinery::{conversion, json, protobuf};
use planesmith_store::{Entry, Revision};

use super::forms::metadata_message;
use super::{Caching, Endpoint, Forms};
use crate::negotiation::{Format, Offer, Output, Target, negotiate, negotiate_custom};
use crate::request::Query;
use crate::response;
use crate::table;

/// An object to be rendered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// A stored entry.
    Entry(&'a Arc<Entry>),
    /// A deleted or replaced entry, rendered with a later revision.
    Former(&'a Entry, Revision),
    /// An object in the endpoint's version that is not stored.
    Object(&'a dyn Object),
}

/// An owned or borrowed object.
pub(crate) enum Held<'a> {
    Own(Box<dyn Object>),
    Lent(&'a dyn Object),
}

impl Deref for Held<'_> {
    type Target = dyn Object;

    fn deref(&self) -> &dyn Object {
        match self {
            Held::Own(object) => &**object,
            Held::Lent(object) => *object,
        }
    }
}

pub(super) const PARTIAL_API_VERSION: &str = "meta.k8s.io/v1";

/// The API version of a PartialObjectMetadata.
pub(crate) fn partial_api_version(output: Output) -> &'static str {
    match output.beta {
        true => "meta.k8s.io/v1beta1",
        false => PARTIAL_API_VERSION,
    }
}
pub(crate) const PARTIAL_KIND: &str = "PartialObjectMetadata";

impl<'a> Subject<'a> {
    /// Compact JSON.
    pub(crate) fn json(self, forms: &Forms) -> ApiResult<Bytes> {
        match self {
            Subject::Entry(entry) => forms.json(entry, Caching::Keep),
            Subject::Former(entry, revision) if forms.is_as_stored(entry) => Ok(entry.bytes_at(revision)),
            Subject::Former(..) => Ok(json::to_vec(&*self.object(forms)?).into()),
            Subject::Object(object) => Ok(json::to_vec(object).into()),
        }
    }

    /// The object in the endpoint's version.
    pub(crate) fn object(self, forms: &Forms) -> ApiResult<Held<'a>> {
        match self {
            Subject::Entry(entry) => forms.object_of(entry).map(Held::Own),
            Subject::Former(entry, revision) => forms.object(&entry.bytes_at(revision)).map(Held::Own),
            Subject::Object(object) => Ok(Held::Lent(object)),
        }
    }

    /// The resourceVersion in its metadata.
    pub(crate) fn resource_version(self, forms: &Forms) -> ApiResult<String> {
        match self {
            Subject::Entry(entry) if entry.revision() > Revision(0) => Ok(entry.revision().to_string()),
            Subject::Former(_, revision) => Ok(revision.to_string()),
            Subject::Entry(_) | Subject::Object(_) => Ok(self.object(forms)?.meta().resource_version.clone()),
        }
    }

    /// The object in the version whose columns are printed; `None` if that is the endpoint's.
    pub(crate) fn printed(self, facts: &'static ResourceFacts, forms: &Forms) -> ApiResult<Option<Box<dyn Object>>> {
        let printed = planesmith_machinery::table::printed(facts);
        if std::ptr::eq(printed, facts) {
            return Ok(None);
        }
        match self {
            Subject::Entry(entry) => forms.stored(entry.bytes()),
            Subject::Former(entry, revision) => forms.stored(&entry.bytes_at(revision)),
            Subject::Object(object) => conversion::try_convert(object, printed),
        }
        .map(Some)
    }

    /// Compact JSON of the metadata.
    pub(crate) fn metadata(self, forms: &Forms) -> ApiResult<Bytes> {
        match self {
            Subject::Entry(entry) => forms.metadata(entry, Caching::Keep),
            Subject::Former(..) | Subject::Object(_) => Ok(json::to_vec(&self.bare_meta(forms)?).into()),
        }
    }

    /// The protobuf message.
    pub(crate) fn message(self, forms: &Forms) -> ApiResult<Bytes> {
        if let Subject::Entry(entry) = self {
            return forms.message(entry, Caching::Keep);
        }
        let mut out = Vec::new();
        protobuf::encode(&*self.object(forms)?, &mut out);
        Ok(out.into())
    }

    /// The protobuf message of the PartialObjectMetadata.
    pub(crate) fn metadata_message(self, forms: &Forms) -> ApiResult<Bytes> {
        if let Subject::Entry(entry) = self {
            return forms.metadata_message(entry, Caching::Keep);
        }
        Ok(metadata_message(self.bare_meta(forms)?))
    }

    /// The metadata as it is rendered alone.
    pub(crate) fn bare_meta(self, forms: &Forms) -> ApiResult<ObjectMeta> {
        forms.bare_meta(&*self.object(forms)?)
    }
}

impl Endpoint {
    /// Negotiates the encoding of an answer with the client.
    ///
    /// # Errors
    ///
    /// 406 when the client accepts none of the offered encodings.
    pub(crate) fn agree(&self, request: &Parts, offer: Offer) -> ApiResult<Output> {
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
                response::text(output, table::of_one(self.kind(), subject, self.forms(), shown, true)?)
            }
            (Target::Object, Format::Protobuf) => {
                let message = subject.message(self.forms())?;
                envelope(self.kind().api_version, self.kind().kind, &message)
            }
            (Target::PartialObject, Format::Protobuf) => {
                let message = subject.metadata_message(self.forms())?;
                envelope(partial_api_version(output), PARTIAL_KIND, &message)
            }
            (Target::Object, Format::Json | Format::Yaml | Format::Cbor) => {
                response::text(output, with_room(&subject.json(self.forms())?))
            }
            (Target::PartialObject, Format::Json | Format::Yaml | Format::Cbor) => {
                let metadata = subject.metadata(self.forms())?;
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
