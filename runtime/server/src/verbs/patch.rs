//! Patches of objects.

use std::borrow::Cow;
use std::fmt;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use planesmith_dynamic::{custom, unstructured};
use planesmith_machinery::copy;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::{GroupKind, GroupVersion};
use planesmith_machinery::json::{self, DecodeError, Findings, Strictness};
use planesmith_machinery::meta::{ManagedFieldsEntry, TypeMeta};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;
use planesmith_machinery::{cbor, conversion, defaulting};
use planesmith_patch::fields::Set;
use planesmith_patch::patches::{self, Patched};

use crate::body;
use crate::endpoint::{Call, Endpoint};
use crate::features::CBOR_SERVING;
use crate::metrics::BodyUse;
use crate::negotiation::Acceptable;
use crate::options::{FieldValidation, WriteOptions};
use crate::representation::Representation;
use crate::write::{Change, Defaulted, Expected, Mismatch, Part, PartStrategy, Write, mismatch, missing_kind};

/// The type of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatchKind {
    /// Operations, applied in order (RFC 6902).
    Json,
    /// A partial object; `null` removes a field (RFC 7386).
    Merge,
    /// Like `Merge`, with lists merged by key where the kind declares it.
    Strategic,
}

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const APPLY_CBOR: &str = "application/apply-patch+cbor";

impl PatchKind {
    /// The type of the patch in the body; `None` for an apply, which is a manager's whole configuration and not a
    /// change.
    ///
    /// # Errors
    ///
    /// 415 when the type is unknown.
    pub(super) fn from_call(call: &Call, representation: &dyn Representation) -> ApiResult<Option<Self>> {
        let takes_cbor = call.ctx.features.has(&CBOR_SERVING);
        let kind = match body::media_type(&call.parts) {
            Some(JSON) => Some(PatchKind::Json),
            Some(MERGE) => Some(PatchKind::Merge),
            Some(APPLY) => None,
            Some(APPLY_CBOR) if takes_cbor => None,
            Some(STRATEGIC) if representation.merges_strategically() => Some(PatchKind::Strategic),
            _ => {
                let accepted = [JSON, MERGE, APPLY, APPLY_CBOR];
                let accepted = &accepted[..if takes_cbor { 4 } else { 3 }];
                return Err(representation.unsupported_patch(accepted));
            }
        };
        Ok(kind)
    }
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
        let kind = PatchKind::from_call(call, self.representation())?;
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
                let is_unmanaged = object.meta().managed_fields.is_empty();
                if is_unmanaged && self.representation().resets_managers(&applied.document) {
                    object.meta_mut().managed_fields = vec![ManagedFieldsEntry::default()];
                }
                for warning in applied.warnings {
                    call.ctx.warnings.add(warning);
                }
                Defaulted::patched(self, call, object, applied.sent_empty)
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
    if body::media_type(&call.parts) != Some(APPLY_CBOR) {
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
    pub(super) sent_empty: Set<'static>,
    /// The document of the new object.
    pub(super) document: Vec<u8>,
}

/// True if the top-level field `name` of a document is `null`.
fn has_null(document: &[u8], name: &str) -> bool {
    let document: serde_json::Value = serde_json::from_slice(document).unwrap_or_default();
    document.get(name).is_some_and(serde_json::Value::is_null)
}

impl Patch<'_> {
    /// Decodes into `target`, a zero object, the result of the patch on `live`.
    pub(super) fn apply(&self, live: &dyn Struct, target: &mut dyn Struct) -> ApiResult<Applied> {
        let document = json::to_vec(live);
        let facts = live.facts();
        self.apply_to(facts, &document, self.body, target)
            .map_err(|error| self.as_shown(facts, &document, target).unwrap_or(error))
    }

    /// The error for documents that messages print in the order of names: those of custom kinds, and merged ones.
    /// `None` when all is printed as it was sent.
    fn as_shown(&self, facts: &'static StructFacts, document: &[u8], target: &mut dyn Struct) -> Option<ApiError> {
        let is_merge = self.kind == PatchKind::Merge;
        let is_tree = self.expected.representation.writes_trees();
        if !is_merge && !is_tree {
            return None;
        }
        let body = if is_merge {
            Cow::Owned(patches::sorted(self.body)?)
        } else {
            Cow::Borrowed(self.body)
        };
        let document = match is_tree {
            true => Cow::Owned(patches::sorted(document)?),
            false => Cow::Borrowed(document),
        };
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
            return self.check_findings(patched, &found, target);
        }
        if self.expected.representation.requires_type_meta() {
            self.check_custom_kind(&patched)?;
            let found = custom::decode(&patched.document, target, strictness);
            return self.check_decoded(patched, found, target);
        }
        let refuse = |why: &dyn fmt::Display| patched.refuse(why);
        let sent = json::type_meta(&patched.document).map_err(|error| {
            let why = format!("couldn't get version/kind; json parse error: {error}");
            refuse(&why)
        })?;
        if sent.api_version.is_empty() && (sent.kind.is_empty() || sent.kind == self.expected.kind) {
            return self.of_no_version(&patched).map(|warnings| Applied {
                warnings,
                sent_empty: Set::new(),
                document: Vec::new(),
            });
        }
        GroupVersion::parse(&sent.api_version).map_err(|error| refuse(&error))?;
        if let Some((own, other)) = self.other_version(&sent) {
            let mut object = other.zero();
            let found = custom::decode(&patched.document, &mut *object, strictness);
            defaulting::set_defaults(&mut *object, self.scheme.environment());
            let converted = conversion::convert(&*object, own);
            for field in converted.facts().fields {
                copy::copy_field(field.name, &*converted, target);
            }
            return self.check_decoded(patched, found, target);
        }
        match mismatch(self.scheme, self.expected, &sent, &patched.document) {
            None => {}
            Some(Mismatch::Version) => {
                return Err(ApiError::version_mismatch(&sent.api_version, self.expected.api_version));
            }
            Some(Mismatch::Kind(why)) => return Err(refuse(&why)),
        }
        let found = custom::decode(&patched.document, target, strictness);
        self.check_decoded(patched, found, target)
    }

    /// The patched kind, and its other version that a patched object names. kube-apiserver decodes such an object in
    /// that version, served or not, and converts it.
    fn other_version(&self, sent: &TypeMeta) -> Option<(&ResourceFacts, &ResourceFacts)> {
        let own = self.scheme.object_kind(self.expected.api_version, self.expected.kind)?;
        let other = self.scheme.object_kind(&sent.api_version, &sent.kind)?;
        let is_other = own != other && own.is_version_of(other);
        is_other.then_some((own, other))
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

    /// Checks the kind and version of a patched custom object, which are required and may not change; if only the
    /// status is written, they are only required.
    fn check_custom_kind(&self, patched: &Patched) -> ApiResult<()> {
        let sent = json::type_meta(&patched.document).map_err(|error| {
            let why = format!("couldn't get version/kind; json parse error: {error}");
            patched.refuse(why)
        })?;
        let version = GroupVersion::parse(&sent.api_version).map_err(|error| patched.refuse(error))?;
        if sent.kind.is_empty() {
            return Err(patched.refuse(missing_kind(&patched.document)));
        }
        if sent.api_version.is_empty() && has_null(&patched.document, "apiVersion") {
            return Err(patched.refuse(".apiVersion accessor error: <nil> is of the type <nil>, expected string"));
        }
        if sent.api_version.is_empty() {
            let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
            return Err(ApiError::internal(why));
        }
        if self.is_of_status {
            return Ok(());
        }
        let mut errors = FieldErrors::default();
        for (field, found, expected) in [
            ("kind", &sent.kind, self.expected.kind),
            ("apiVersion", &sent.api_version, self.expected.api_version),
        ] {
            if found != expected {
                errors.invalid(field, found, format!("must be {expected}"));
            }
        }
        if errors.is_empty() {
            return Ok(());
        }
        let document: serde_json::Value = serde_json::from_slice(&patched.document).unwrap_or_default();
        let name = document.pointer("/metadata/name").and_then(serde_json::Value::as_str);
        let kind = GroupKind::new(version.group, sent.kind);
        Err(ApiError::invalid(&kind, name.unwrap_or_default(), &errors))
    }

    fn check_decoded(
        &self,
        patched: Patched,
        found: Result<Findings, DecodeError>,
        target: &dyn Struct,
    ) -> ApiResult<Applied> {
        let found = found.map_err(|error| patched.refuse(error))?;
        self.check_findings(patched, &found, target)
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
        let sent_empty = representation.emptied_fields(target.facts(), &patched.document);
        Ok(Applied {
            warnings,
            sent_empty,
            document: patched.document,
        })
    }
}
