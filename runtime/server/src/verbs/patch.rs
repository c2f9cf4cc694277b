//! Patches of objects.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use planesmith_dynamic::{custom, unstructured};
use planesmith_machinery::copy;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::json::{self, Findings, Strictness};
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;
use planesmith_machinery::{cbor, conversion, defaulting};
use planesmith_patch::patches::{self, Patched};

use crate::endpoint::{Call, Endpoint};
use crate::features::CBOR_SERVING_AND_STORAGE;
use crate::header_text::header_text;
use crate::metrics::BodyUse;
use crate::negotiation::Acceptable;
use crate::options::{FieldValidation, WriteOptions};
use crate::representation::{Expected, JSON_PATCH, MERGE_PATCH, Mismatch, PatchKind, PatchedVersion, Representation};
use crate::write::{Change, Defaulted, DocumentFacts, Part, PartStrategy, Write};

const APPLY: &str = "application/apply-patch+yaml";
const APPLY_CBOR: &str = "application/apply-patch+cbor";

/// The type of the patch in the body of `call`, for an object that `representation` represents; `None` for an apply, which
/// is a manager's whole configuration and not a change.
///
/// # Errors
///
/// 415 when the type is unknown.
pub(super) fn patch_kind(call: &Call, representation: &dyn Representation) -> ApiResult<Option<PatchKind>> {
    let takes_cbor = call.ctx.features.has(&CBOR_SERVING_AND_STORAGE);
    match patch_type(&call.parts) {
        JSON_PATCH => Ok(Some(PatchKind::Json)),
        MERGE_PATCH => Ok(Some(PatchKind::Merge)),
        APPLY => Ok(None),
        APPLY_CBOR if takes_cbor => Ok(None),
        other => {
            let applies: &[_] = if takes_cbor { &[APPLY, APPLY_CBOR] } else { &[APPLY] };
            representation.other_patch(&call.parts, other, applies).map(Some)
        }
    }
}

/// The `Content-Type` up to its parameters, which is compared to the letter: even a space before them makes another type.
fn patch_type(request: &Parts) -> &str {
    let sent = header_text(&request.headers, &CONTENT_TYPE);
    sent.split_once(';').map_or(sent, |(patch_type, _)| patch_type)
}

impl Endpoint {
    /// Patches an object.
    pub(crate) async fn patch(&self, call: &Call, body: Body) -> ApiResult<Response> {
        self.patch_part(call, body, Part::Object).await
    }

    /// Patches the status of an object.
    pub(crate) async fn patch_status(&self, call: &Call, body: Body) -> ApiResult<Response> {
        self.patch_part(call, body, Part::Status).await
    }

    /// Patches a part of an object that has rules of its own.
    pub(crate) async fn patch_own_part(&self, call: &Call, body: Body, part: &dyn PartStrategy) -> ApiResult<Response> {
        self.patch_part(call, body, Part::Own(part)).await
    }

    async fn patch_part(&self, call: &Call, body: Body, part: Part<'_>) -> ApiResult<Response> {
        let kind = patch_kind(call, self.representation())?;
        if call.name().is_empty() {
            return Err(ApiError::bad_request("name must be provided"));
        }
        let output = self.negotiate(
            &call.parts,
            Acceptable::of_object(&self.kind().extensions, call.ctx.info.subresource()),
        )?;
        let body = self.read_bytes(call, body, BodyUse::Patch).await?;
        let Some(kind) = kind else {
            let configuration = patch_text(call, body)?;
            call.record_patch(&configuration);
            return self.apply(call, configuration, part, output).await;
        };
        call.record_patch(&body);
        let options = WriteOptions::for_patch(call.query())?;
        let patch = Patch {
            kind,
            body: &body,
            validation: options.field_validation,
            scheme: self.stores().scheme(),
            expected: self.kind().into(),
            is_of_status: matches!(part, Part::Status),
        };
        let write = Write::new(self, call, &options, body.len()).of_part(part);
        let change = Change {
            part,
            make: &|live| {
                let mut object = self.kind().zero();
                let applied = patch.apply(live, &mut *object)?;
                self.representation()
                    .reset_managers(object.meta_mut(), &applied.document);
                for warning in applied.warnings {
                    call.ctx.warnings.add(warning);
                }
                Defaulted::patched(self, call, object, applied.document_facts)
            },
            otherwise: None,
            uid: "",
        };
        let changed = write.change(call.name(), &change).await?;
        write.respond(changed.code(), output, changed.committed).await
    }
}

/// The configuration of an apply, as YAML or JSON.
pub(super) fn patch_text(call: &Call, body: Bytes) -> ApiResult<Bytes> {
    if patch_type(&call.parts) != APPLY_CBOR {
        return Ok(body);
    }
    let json = cbor::to_json(&body).map_err(|error| ApiError::bad_request(format!("error decoding CBOR: {error}")))?;
    Ok(json.into())
}

/// A patch of an object, as it was sent.
pub(super) struct Patch<'a> {
    pub(super) kind: PatchKind,
    pub(super) body: &'a [u8],
    pub(super) validation: FieldValidation,
    pub(super) scheme: &'a Scheme,
    pub(super) expected: Expected<'a>,
    /// True if only the status is written, whatever else the patch changes.
    pub(super) is_of_status: bool,
}

/// The findings of a patch besides the new object.
pub(super) struct Applied {
    /// Warnings for the client.
    pub(super) warnings: Vec<String>,
    /// Fields that are empty in the new object.
    pub(super) document_facts: DocumentFacts,
    /// The document of the new object.
    pub(super) document: Bytes,
}

impl Patch<'_> {
    /// Decodes into `target`, a zero object, the result of the patch on `live`.
    pub(super) fn apply(&self, live: &dyn Struct, target: &mut dyn Struct) -> ApiResult<Applied> {
        let document = json::to_vec(live);
        let facts = live.facts();
        self.apply_to(facts, &document, self.body, target)
            .map_err(|error| self.error_in_order(facts, &document, target).unwrap_or(error))
    }

    /// The error for documents that messages print in the order of names: those of custom kinds, and merged ones.
    /// `None` when all is printed as it was sent.
    fn error_in_order(
        &self,
        facts: &'static StructFacts,
        document: &[u8],
        target: &mut dyn Struct,
    ) -> Option<ApiError> {
        let document = self.expected.representation.printed(document)?;
        let body = match self.kind {
            PatchKind::Merge => Cow::Owned(patches::sorted(self.body)?),
            PatchKind::Json | PatchKind::Strategic => Cow::Borrowed(self.body),
        };
        if let (Cow::Borrowed(_), Cow::Borrowed(_)) = (&document, &body) {
            return None;
        }
        self.apply_to(facts, &document, &body, target).err()
    }

    fn apply_to(
        &self,
        facts: &'static StructFacts,
        document: &[u8],
        body: &[u8],
        target: &mut dyn Struct,
    ) -> ApiResult<Applied> {
        let strictness = match self.validation {
            FieldValidation::Ignore => Strictness::Lenient,
            FieldValidation::Warn | FieldValidation::Strict => Strictness::Strict,
        };
        let patched = match self.kind {
            PatchKind::Json => patches::json_patch(document, body, strictness)?,
            PatchKind::Merge => patches::merge_patch(document, body, strictness)?,
            PatchKind::Strategic => patches::strategic_merge_patch(facts, document, body, strictness)?,
        };
        if self.kind == PatchKind::Strategic {
            // The result has the patched kind, whatever its `kind` is.
            let found = unstructured::decode(&patched.document, target, strictness);
            let found = found.map_err(|why| patched.refuse(why))?;
            let applied = self.check_findings(patched, &found, target)?;
            // kube-apiserver converts such an object apart from decoding it, and has no reason for the failure.
            return match self.expected.hooks.conversion_problem(target) {
                Some(why) => Err(ApiError::unnamed(500, why)),
                None => Ok(applied),
            };
        }
        let found = match self.version_of(&patched)? {
            PatchedVersion::Own => custom::decode(&patched.document, target, strictness),
            PatchedVersion::Other { own, other } => {
                let mut object = other.zero();
                let found = custom::decode(&patched.document, &mut *object, strictness);
                defaulting::set_defaults(&mut *object, self.scheme.environment());
                let converted = conversion::convert(&*object, &own);
                for field in converted.facts().fields {
                    copy::copy_field(field.name, &*converted, target);
                }
                found
            }
            PatchedVersion::Internal => {
                return self.of_no_version(&patched).map(|warnings| Applied {
                    warnings,
                    document_facts: DocumentFacts::default(),
                    document: Bytes::new(),
                });
            }
        };
        let found = found.map_err(|error| patched.refuse(error))?;
        if let Some(why) = self.expected.hooks.conversion_problem(target) {
            return Err(patched.refuse(why));
        }
        self.check_findings(patched, &found, target)
    }

    /// The version in which the patched object is read.
    fn version_of(&self, patched: &Patched) -> ApiResult<PatchedVersion> {
        let document = &patched.document;
        let sent = json::type_meta(document).map_err(|error| {
            let why = format!("couldn't get version/kind; json parse error: {error}");
            patched.refuse(why)
        })?;
        let Self { expected, scheme, .. } = *self;
        let version = expected
            .representation
            .check_patched_kind(sent, document, expected, scheme, self.is_of_status);
        version.map_err(|why| match why {
            Mismatch::Unknown(why) | Mismatch::Kind(_, why) => patched.refuse(why),
            Mismatch::Refused(error) => error,
        })
    }

    /// The warnings of kube-apiserver for a patched object without an API version. It decodes the object as its
    /// internal type, in which all fields have other names, so that nothing is decoded; afterwards it misses the
    /// object's name.
    fn of_no_version(&self, patched: &Patched) -> ApiResult<Vec<String>> {
        let document: serde_json::Value = serde_json::from_slice(&patched.document).unwrap_or_default();
        let fields = document.as_object().into_iter().flat_map(serde_json::Map::keys);
        let unknown = fields.filter(|field| !matches!(field.as_str(), "apiVersion" | "kind"));
        let unknown: Vec<String> = unknown.map(|field| format!("unknown field {field:?}")).collect();
        match self.validation {
            FieldValidation::Strict => {
                Err(patched.refuse(format_args!("strict decoding error: {}", unknown.join(", "))))
            }
            FieldValidation::Warn => Ok(unknown),
            FieldValidation::Ignore => Ok(Vec::new()),
        }
    }

    /// The findings of the patch, unless it is refused.
    fn check_findings(&self, patched: Patched, found: &Findings, target: &dyn Struct) -> ApiResult<Applied> {
        if self.validation == FieldValidation::Strict
            && let Some(error) = patched.refuse_strictly(found)
        {
            return Err(error);
        }
        let mut warnings = patched.findings;
        warnings.extend_from_slice(found.messages());
        let representation = self.expected.representation;
        let document = Bytes::from(patched.document);
        Ok(Applied {
            warnings,
            document_facts: DocumentFacts::by(representation, target.facts(), &document),
            document,
        })
    }
}
