//! Objects and lists in the form that was agreed on.

use std::ops::Deref;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use planesmith_machinery::meta::{ListMeta, ObjectMeta, PartialObjectMetadata};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};
use planesmith_machinery::{conversion, json, protobuf};
use planesmith_store::{Entry, Revision};

use super::forms::metadata_message;
use super::{Endpoint, Forms};
use crate::list_stream::{Items, ListStream};
use crate::negotiation::{Format, Offer, Output, Target, negotiate, negotiate_custom};
use crate::request::Query;
use crate::response;
use crate::table;

/// An object on its way to the client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// What the store holds.
    Entry(&'a Arc<Entry>),
    /// What the store held, shown with a later revision.
    Former(&'a Entry, Revision),
    /// An object in the endpoint's version that the store does not hold.
    Object(&'a dyn Object),
}

/// An object, whoever owns it.
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

const PARTIAL_API_VERSION: &str = "meta.k8s.io/v1";

/// The version that metadata says it is of.
pub(crate) fn partial_api_version(output: Output) -> &'static str {
    match output.beta {
        true => "meta.k8s.io/v1beta1",
        false => PARTIAL_API_VERSION,
    }
}
pub(crate) const PARTIAL_KIND: &str = "PartialObjectMetadata";
const PARTIAL_LIST_KIND: &str = "PartialObjectMetadataList";

impl<'a> Subject<'a> {
    /// Compact JSON.
    pub(crate) fn json(self, forms: &Forms) -> ApiResult<Bytes> {
        match self {
            Subject::Entry(entry) => forms.json(entry),
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

    /// The resourceVersion that its metadata says.
    pub(crate) fn resource_version(self, forms: &Forms) -> ApiResult<String> {
        match self {
            Subject::Entry(entry) if entry.revision() > Revision(0) => Ok(entry.revision().to_string()),
            Subject::Former(_, revision) => Ok(revision.to_string()),
            Subject::Entry(_) | Subject::Object(_) => Ok(self.object(forms)?.meta().resource_version.clone()),
        }
    }

    /// The object in the version whose columns are printed, when that is not the endpoint's.
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
            Subject::Entry(entry) => forms.metadata(entry),
            Subject::Former(..) | Subject::Object(_) => Ok(json::to_vec(&self.bare_meta(forms)?).into()),
        }
    }

    /// The protobuf message.
    pub(crate) fn message(self, forms: &Forms) -> ApiResult<Bytes> {
        if let Subject::Entry(entry) = self {
            return forms.message(entry);
        }
        let mut out = Vec::new();
        protobuf::encode(&*self.object(forms)?, &mut out);
        Ok(out.into())
    }

    /// The protobuf message of the PartialObjectMetadata.
    pub(crate) fn metadata_message(self, forms: &Forms) -> ApiResult<Bytes> {
        if let Subject::Entry(entry) = self {
            return forms.metadata_message(entry);
        }
        Ok(metadata_message(self.bare_meta(forms)?))
    }

    /// The metadata as it is shown alone.
    pub(crate) fn bare_meta(self, forms: &Forms) -> ApiResult<ObjectMeta> {
        forms.bare_meta(&*self.object(forms)?)
    }
}

impl Endpoint {
    /// Agrees with the client on the form of an answer.
    ///
    /// # Errors
    ///
    /// 406 when the client takes nothing of what is offered.
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

    /// Answers with a list.
    pub(crate) fn render_list(
        &self,
        output: Output,
        query: Query<'_>,
        meta: &ListMeta,
        entries: Vec<Arc<Entry>>,
    ) -> ApiResult<Response> {
        let media_type = output.format.media_type();
        let body = match (output.target, output.format) {
            (Target::Table, _) => {
                let shown = table::shown(query)?;
                let table = table::of_list(self.kind(), meta, &entries, self.forms(), shown)?;
                return Ok(response::bytes(
                    StatusCode::OK,
                    media_type,
                    response::text(output, table),
                ));
            }
            (Target::PartialObject, _) => return Err(self.is_a_list()),
            (_, Format::Protobuf) => {
                return Ok(response::bytes(
                    StatusCode::OK,
                    media_type,
                    self.list_message(output, meta, &entries)?,
                ));
            }
            (Target::Object, Format::Json | Format::Yaml | Format::Cbor) => self.list_json(meta, entries)?,
            (Target::PartialObjectList, Format::Json | Format::Yaml | Format::Cbor) => {
                self.partial_list(meta, &entries)?
            }
        };
        if output.format == Format::Json && !output.pretty && !output.beta {
            return Ok(response::stream(StatusCode::OK, media_type, Body::new(body)));
        }
        // The newline of the streamed form is not part of the JSON.
        let mut compact = body.into_vec();
        compact.pop();
        Ok(response::bytes(
            StatusCode::OK,
            media_type,
            response::text(output, compact),
        ))
    }

    fn list_json(&self, meta: &ListMeta, entries: Vec<Arc<Entry>>) -> ApiResult<ListStream> {
        if self.forms().writes_trees() {
            return self.whole_items(meta, entries);
        }
        let prefix = self.forms().prefix();
        let head = list_head(self.kind().list_kind, self.kind().api_version, meta);
        let items = if self.forms().is_stored() && entries.iter().all(|entry| entry.bytes().starts_with(prefix)) {
            let skip = prefix.len();
            Items::Entries { entries, skip }
        } else {
            let item = |entry: &Arc<Entry>| {
                let json = self.forms().json(entry)?;
                match json.starts_with(prefix) {
                    true => Ok(json.slice(prefix.len()..)),
                    // Another hand wrote it, in another order.
                    false => {
                        let mut bare = Vec::with_capacity(json.len());
                        json::encode_item(&*self.forms().object_of(entry)?, &mut bare);
                        Ok(Bytes::from(bare).slice(1..))
                    }
                }
            };
            Items::Bytes(entries.iter().map(item).collect::<ApiResult<_>>()?)
        };
        Ok(ListStream::new(head, items, ("{", ""), b"]}\n"))
    }

    /// A list of custom objects, with all keys in their order as its items have them.
    fn whole_items(&self, meta: &ListMeta, entries: Vec<Arc<Entry>>) -> ApiResult<ListStream> {
        let items = match entries.iter().all(|entry| self.forms().is_as_stored(entry)) {
            true => Items::Entries { entries, skip: 0 },
            false => {
                let items = entries.iter().map(|entry| self.forms().json(entry));
                Items::Bytes(items.collect::<ApiResult<_>>()?)
            }
        };
        let (head, tail) = sorted_list(self.kind().list_kind, self.kind().api_version, meta);
        Ok(ListStream::new(head, items, ("", ""), tail))
    }

    fn partial_list(&self, meta: &ListMeta, entries: &[Arc<Entry>]) -> ApiResult<ListStream> {
        let mut head = list_head(PARTIAL_LIST_KIND, PARTIAL_API_VERSION, meta);
        let items = entries.iter().map(|entry| Subject::Entry(entry).metadata(self.forms()));
        let items = Items::Bytes(items.collect::<ApiResult<_>>()?);
        if entries.is_empty() {
            // As a list in Go that nothing was appended to.
            head.pop();
            return Ok(ListStream::new(head, items, ("", ""), b"null}\n"));
        }
        Ok(ListStream::new(
            head,
            items,
            (PartialObjectMetadata::OPEN, "}"),
            b"]}\n",
        ))
    }

    fn list_message(&self, output: Output, meta: &ListMeta, entries: &[Arc<Entry>]) -> ApiResult<Vec<u8>> {
        let target = output.target;
        let (api_version, kind) = match target {
            Target::PartialObjectList => (partial_api_version(output), PARTIAL_LIST_KIND),
            _ => (self.kind().api_version, self.kind().list_kind),
        };
        let message = |entry: &Arc<Entry>| match target {
            Target::PartialObjectList => self.forms().metadata_message(entry),
            _ => self.forms().message(entry),
        };
        let messages: Vec<Bytes> = entries.iter().map(message).collect::<ApiResult<_>>()?;
        let mut out = Vec::with_capacity(messages.iter().map(|message| message.len() + 8).sum::<usize>() + 256);
        protobuf::wrap(api_version, kind, &mut out, |out| {
            protobuf::encode_list_of_messages(meta, messages.iter().map(|message| &**message), out);
        });
        Ok(out)
    }

    fn is_no_list(&self) -> ApiError {
        if self.kind().custom.is_some() {
            // A tree is asked for its items before anybody notices that it is no list.
            return ApiError::unnamed(500, "content is not a list");
        }
        no_list(self.kind().group, self.kind().kind)
    }

    fn is_a_list(&self) -> ApiError {
        let kind = match self.kind().custom {
            Some(_) => "*unstructured.UnstructuredList".to_owned(),
            None => go_type(self.kind().group, self.kind().list_kind),
        };
        let why = "you requested PartialObjectMetadata, but the requested object is a list";
        ApiError::new(Reason::NotAcceptable, format!("{why} ({kind})"))
    }
}

/// 406: the metadata of many objects cannot be had of one.
pub(crate) fn no_list(group: &str, kind: &str) -> ApiError {
    let kind = go_type(group, kind);
    let why = "you requested PartialObjectMetadataList, but the requested object is not a list";
    ApiError::new(Reason::NotAcceptable, format!("{why} ({kind})"))
}

/// The Go type behind a kind, as messages show it.
fn go_type(group: &str, kind: &str) -> String {
    let package = group
        .split('.')
        .next()
        .filter(|package| !package.is_empty())
        .unwrap_or("core");
    format!("*{package}.{kind}")
}

fn list_head(kind: &str, api_version: &str, meta: &ListMeta) -> Vec<u8> {
    let mut head = Vec::with_capacity(256);
    head.extend_from_slice(b"{\"kind\":");
    json::encode_text(kind, &mut head);
    head.extend_from_slice(b",\"apiVersion\":");
    json::encode_text(api_version, &mut head);
    head.extend_from_slice(b",\"metadata\":");
    json::encode(meta, &mut head);
    head.extend_from_slice(b",\"items\":[");
    head
}

/// What stands around the items of a list whose keys are in their order. An empty token is told.
fn sorted_list(kind: &str, api_version: &str, meta: &ListMeta) -> (Vec<u8>, Vec<u8>) {
    let mut head = b"{\"apiVersion\":".to_vec();
    json::encode_text(api_version, &mut head);
    head.extend_from_slice(b",\"items\":[");
    let mut tail = b"],\"kind\":".to_vec();
    json::encode_text(kind, &mut tail);
    tail.extend_from_slice(b",\"metadata\":");
    let mut metadata = json::to_value(meta);
    metadata["continue"] = meta.r#continue.as_str().into();
    json::encode_value(&metadata, &mut tail);
    tail.extend_from_slice(b"}\n");
    (head, tail)
}

pub(crate) fn envelope(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 64);
    protobuf::wrap(api_version, kind, &mut out, |out| out.extend_from_slice(message));
    out
}

/// A copy with room for the final newline.
fn with_room(bytes: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(bytes.len() + 1);
    copy.extend_from_slice(bytes);
    copy
}
