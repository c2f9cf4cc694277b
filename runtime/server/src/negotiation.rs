//! Negotiation of the encoding and kind of an answer.
//!
//! A server offers each answer in a few media types, and reads may also request another kind of object (`;as=Table`).
//! Matching follows kube-apiserver exactly, including its oddities: media types are case-sensitive, `application/*`
//! matches nothing, and unknown parameters are ignored.

mod accept;
mod document;
mod page;
pub(crate) mod route;

use http::header::{ACCEPT, USER_AGENT};
use http::request::Parts;
use planesmith_machinery::feature::Features;
use planesmith_machinery::status::{ApiError, ApiResult, Details, Reason};
use planesmith_machinery::strategy::Extensions;

pub(crate) use self::accept::{Clause, clauses};
pub(crate) use self::document::Document;
pub(crate) use self::page::{GROUP, PageOutput, negotiate_page, negotiate_refusal};
pub use self::route::check_produced;
use crate::features::CBOR_SERVING_AND_STORAGE;
use crate::header_text::header_text;
use crate::request::{Query, features_of};

/// The encoding of an object.
///
/// A new one is a module of `runtime/wire` and a variant. Matches without `_` find bodies (`negotiation/document`), answers
/// (`response`, `endpoint/render`), watches (`verbs/watch/frames`), the texts of lists (`list_stream/text`), answers in the
/// audit (`filters/audit/answer`) and costs (`offload/cost`). Places that they do not find: the exports of `machinery`,
/// `Format::ALL`, `Format::MEDIA_TYPES` (in the same order) and `Format::all` (which leaves out the last one only), the media
/// type of streams and the texts of 406 here, comparisons with a `Format` (`satisfy`, `endpoint/render_list`,
/// `negotiation/page`, `verbs/watch/frames`), the media types of patches (`verbs/patch`, `representation/documents`), of the
/// aggregated discovery document (`discovery/accept`) and in OpenAPI (`openapi/adapt`, `extensions/openapi/paths`,
/// `xtask/src/generate/openapi/operation`). Stored bytes are a `StorageMediaType` (`machinery/scheme`,
/// `representation/storage_codec`), for which `etcd-storage/options` has the flag. `tests/it/cbor` has the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `application/json`.
    Json,
    /// `application/yaml`.
    Yaml,
    /// `application/vnd.kubernetes.protobuf`.
    Protobuf,
    /// `application/cbor`; only if the feature is on.
    Cbor,
}

/// The media type of a sequence of CBOR documents.
const CBOR_STREAM: &str = "application/cbor-seq";

/// The kind of object in which the answer is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The object itself.
    Object,
    /// A Table: rows of cells.
    Table,
    /// The object's metadata.
    PartialObject,
    /// The metadata of each item of a list.
    PartialObjectList,
}

/// The negotiated encoding and kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Encoding.
    pub format: Format,
    /// True if the output is indented for people.
    pub pretty: bool,
    /// Kind of object.
    pub target: Target,
    /// True if tables and metadata have the version `meta.k8s.io/v1beta1`, which old clients request.
    pub beta: bool,
}

/// The kinds of answers that are acceptable for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptable {
    /// One object itself: Status objects and other answers that are not resources.
    Plain,
    /// A resource's object.
    Object,
    /// An object that cannot be rendered as a table: an object that is posted and not stored, or a part of an object
    /// with a path of its own.
    Part,
    /// The Scale of an object, which is of a declared kind, whatever the object is.
    Scale,
    /// A resource's list, or a watch of it.
    Collection,
}

impl Format {
    /// All encodings. The one that a feature switches comes last.
    const ALL: [Format; 4] = [Format::Json, Format::Yaml, Format::Protobuf, Format::Cbor];
    const MEDIA_TYPES: [&'static str; 4] = [
        Format::Json.media_type(),
        Format::Yaml.media_type(),
        Format::Protobuf.media_type(),
        Format::Cbor.media_type(),
    ];

    /// The encodings that clients of a server with `features` may use.
    pub(crate) fn all(features: &Features) -> &'static [Format] {
        if features.has(&CBOR_SERVING_AND_STORAGE) {
            &Self::ALL
        } else {
            Self::ALL.split_last().map_or(&[], |(_, others)| others)
        }
    }

    /// Their media types.
    pub(crate) fn media_types(features: &Features) -> &'static [&'static str] {
        &Self::MEDIA_TYPES[..Self::all(features).len()]
    }

    /// The media type in the `Content-Type` of answers.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Yaml => "application/yaml",
            Format::Protobuf => "application/vnd.kubernetes.protobuf",
            Format::Cbor => "application/cbor",
        }
    }

    /// The media type of a watch; `None` when the format cannot be streamed.
    #[must_use]
    pub const fn stream_media_type(self) -> Option<&'static str> {
        match self {
            Format::Json => Some("application/json"),
            Format::Yaml => None,
            Format::Protobuf => Some("application/vnd.kubernetes.protobuf;stream=watch"),
            Format::Cbor => Some(CBOR_STREAM),
        }
    }

    /// The format of a media type without parameters; `None` for one that a server with `features` does not offer.
    #[must_use]
    pub fn of_media_type(media_type: &str, features: &Features) -> Option<Self> {
        let mut all = Self::all(features).iter().copied();
        all.find(|format| format.media_type() == media_type)
    }
}

impl Acceptable {
    /// The acceptable answers to a request for an object of a kind with `extensions`, with `subresource` in its path.
    #[must_use]
    pub fn of_object(extensions: &Extensions, subresource: &str) -> Self {
        match subresource {
            "" => Acceptable::Object,
            "status" if extensions.status_as_table => Acceptable::Object,
            _ => Acceptable::Part,
        }
    }
}

/// Negotiates the output of an answer.
///
/// # Errors
///
/// 406 when the client accepts none of the offered outputs.
pub fn negotiate(request: &Parts, acceptable: Acceptable) -> ApiResult<Output> {
    let header = accept_header(request);
    let mut output = match header {
        "" | "application/json" | "*/*" => Output::json(),
        _ if !names_offered_type(request) => {
            return Err(nothing_offered(request, acceptable));
        }
        _ => choose(request, acceptable, |_| true).ok_or_else(|| nothing_accepted(request))?,
    };
    output.pretty |= wants_indentation(request);
    Ok(output)
}

/// Checks that the route of a document about an API accepts the media types of a request.
///
/// # Errors
///
/// 415 or 406, in the words of the route.
pub(crate) fn check_document_route(request: &Parts) -> ApiResult<()> {
    let media_types = Format::media_types(features_of(request));
    route::check(request, media_types, media_types)
}

/// Checks the `Accept` header of a request whose answer is streamed in the media type `own`. As in kube-apiserver, where failures
/// are objects, the client has to accept an object, too.
///
/// # Errors
///
/// 406 when the client accepts none of the offered media types.
pub fn check_streamed(request: &Parts, own: &str) -> ApiResult<()> {
    let offered = [&[own], Format::media_types(features_of(request))].concat();
    check_produced(request, &offered)?;
    let is_accepted = accept_header(request).is_empty() || choose(request, Acceptable::Part, |_| true).is_some();
    is_accepted.then_some(()).ok_or_else(|| nothing_accepted(request))
}

/// Like [`negotiate`], for objects that can be encoded as outputs that satisfy `encodable` alone: the `Accept` header is
/// not checked for an offered media type first.
///
/// # Errors
///
/// 406 when the client accepts none of the offered outputs.
pub(crate) fn negotiate_encodable(
    request: &Parts,
    acceptable: Acceptable,
    encodable: impl Fn(&Output) -> bool,
) -> ApiResult<Output> {
    let chosen = match accept_header(request) {
        "" | "application/json" | "*/*" => Some(Output::json()),
        _ => choose(request, acceptable, encodable),
    };
    let mut output = chosen.ok_or_else(|| nothing_accepted(request))?;
    output.pretty |= wants_indentation(request);
    Ok(output)
}

/// Like [`negotiate`], for documents about the server itself: the `Accept` header is not checked for an offered media
/// type first.
///
/// # Errors
///
/// 406 when the client accepts none of the offered outputs.
pub(crate) fn negotiate_document(request: &Parts) -> ApiResult<Output> {
    let chosen = match accept_header(request) {
        "" => Some(Output::json()),
        _ => choose(request, Acceptable::Plain, |_| true),
    };
    let mut output = chosen.ok_or_else(|| nothing_accepted(request))?;
    output.pretty |= wants_indentation(request);
    Ok(output)
}

/// Like `negotiate_document`, for answers that must be sent in any case.
///
/// # Errors
///
/// Indented JSON when the client accepts none of the offered outputs.
pub(crate) fn negotiate_failure(request: &Parts) -> Result<Output, Output> {
    negotiate_document(request).map_err(|_| Output {
        pretty: true,
        ..Output::json()
    })
}

/// The output of a watch for a client whose list would be encoded as `output`.
///
/// # Errors
///
/// 406 when that encoding cannot be streamed.
pub fn streamed(output: Output) -> ApiResult<Output> {
    if output.format.stream_media_type().is_none() {
        let message = "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
        return Err(ApiError::new(Reason::NotAcceptable, message));
    }
    Ok(Output {
        pretty: false,
        ..output
    })
}

impl Output {
    /// Compact JSON of the object itself.
    #[must_use]
    pub const fn json() -> Self {
        Output {
            format: Format::Json,
            pretty: false,
            target: Target::Object,
            beta: false,
        }
    }
}

/// True if the `Accept` header of a request names an encoding, or all of them.
fn names_offered_type(request: &Parts) -> bool {
    let (header, features) = (accept_header(request), features_of(request));
    accept::names_any(header, Format::media_types(features))
        || features.has(&CBOR_SERVING_AND_STORAGE) && accept::names_any(header, &[CBOR_STREAM])
}

fn accept_header(request: &Parts) -> &str {
    header_text(&request.headers, &ACCEPT).trim()
}

/// The output for the first accepted clause, best quality first, that one of the formats satisfies and that is `encodable`.
fn choose(request: &Parts, acceptable: Acceptable, encodable: impl Fn(&Output) -> bool) -> Option<Output> {
    let offered = Format::all(features_of(request));
    clauses(accept_header(request)).iter().find_map(|clause| {
        let formats = offered.iter();
        let mut outputs = formats.filter_map(|format| satisfy(clause, *format, acceptable));
        outputs.find(&encodable)
    })
}

fn satisfy(clause: &Clause<'_>, format: Format, acceptable: Acceptable) -> Option<Output> {
    // A client may also name the media type of CBOR streams.
    let is_named = clause.matches(format.media_type()) || format == Format::Cbor && clause.matches(CBOR_STREAM);
    if !is_named {
        return None;
    }
    let (mut kind, mut group, mut version) = (None, "", "");
    let mut pretty = false;
    for (name, value) in &clause.parameters {
        match *name {
            "as" => kind = Some(*value),
            "g" => group = value,
            "v" => version = value,
            "stream" if !value.is_empty() && (*value != "watch" || format.stream_media_type().is_none()) => {
                return None;
            }
            "sv" if !value.is_empty() => return None,
            "pretty" => pretty = *value == "1",
            _ => {}
        }
    }
    let names_kind = kind.is_some() || !group.is_empty() || !version.is_empty();
    let target = match kind {
        _ if !names_kind => Target::Object,
        _ if group != "meta.k8s.io" || !matches!(version, "v1" | "v1beta1") || acceptable == Acceptable::Plain => {
            return None;
        }
        Some("Table") if format != Format::Protobuf && acceptable != Acceptable::Part => Target::Table,
        Some("PartialObjectMetadata") => Target::PartialObject,
        Some("PartialObjectMetadataList") => Target::PartialObjectList,
        _ => return None,
    };
    Some(Output {
        format,
        pretty,
        target,
        beta: target != Target::Object && version == "v1beta1",
    })
}

/// True if the answer is indented for people: `?pretty` decides, otherwise browsers and command line tools get
/// indentation.
fn wants_indentation(request: &Parts) -> bool {
    let query = request.uri.query().unwrap_or_default();
    if query.contains("pretty")
        && let Some(value) = Query::new(query).first("pretty")
        && !value.is_empty()
    {
        return matches!(&*value, "1" | "t" | "T" | "true" | "TRUE" | "True");
    }
    let agent = request
        .headers
        .get(USER_AGENT)
        .map_or(&b""[..], |agent| agent.as_bytes());
    [&b"curl"[..], b"Wget", b"Mozilla/5.0"]
        .iter()
        .any(|start| agent.starts_with(start))
}

/// 406 for a client that accepts none of the encodings.
fn nothing_accepted(request: &Parts) -> ApiError {
    ApiError::not_acceptable(Format::media_types(features_of(request)))
}

/// The error of the path itself, returned before the request is examined.
fn nothing_offered(request: &Parts, acceptable: Acceptable) -> ApiError {
    let streams: &[&str] = match acceptable {
        Acceptable::Plain | Acceptable::Object | Acceptable::Part | Acceptable::Scale => &[],
        Acceptable::Collection => &[
            "application/json;stream=watch",
            "application/vnd.kubernetes.protobuf;stream=watch",
        ],
    };
    route::not_produced(&[Format::media_types(features_of(request)), streams].concat())
}

/// Adds the empty details that some errors about media types carry.
pub(crate) fn with_empty_details(mut error: ApiError) -> ApiError {
    error.status_mut().details = Some(Details::default());
    error
}

#[cfg(test)]
mod tests;
