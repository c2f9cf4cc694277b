//! Documents that clients send: bodies, patches and applied configurations.

mod custom_kind;
mod declared_kind;

use std::borrow::Cow;

use http::request::Parts;
use planesmith_dynamic::structural::PrunedPaths;
use planesmith_dynamic::{custom, unstructured};
use planesmith_machinery::meta::{ManagedFieldsEntry, ObjectMeta, TypeMeta};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;
use planesmith_patch::apply::Sent;
use planesmith_patch::{managers, patches};
use serde_json::Value as Tree;

use super::{Custom, Declared, Expected, Mismatch};
use crate::negotiation::route;
pub use declared_kind::check_changed_kind;

/// The type of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchKind {
    /// Operations, applied in order (RFC 6902).
    Json,
    /// A partial object; `null` removes a field (RFC 7386).
    Merge,
    /// Like `Merge`, with lists merged by key where the kind declares it.
    Strategic,
}

/// The media types of patches of any kind.
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_MERGE_PATCH: &str = "application/strategic-merge-patch+json";

/// The version in which a patched object is read.
#[derive(Debug)]
pub(crate) enum PatchedVersion {
    /// The one that was patched.
    Own,
    /// Another version of the kind: kube-apiserver decodes the object in that version, served or not, and converts it.
    Other { own: ResourceFacts, other: ResourceFacts },
    /// None: kube-apiserver decodes the object as its internal type, in which all fields have other names.
    Internal,
}

/// The documents in which clients send objects of a kind.
pub(crate) trait SentDocuments {
    /// Checks the kind and version that a body names, and completes them. `json` is the body in JSON, or empty.
    ///
    /// # Errors
    ///
    /// The reason for which the body is not of the expected kind.
    fn check_kind(
        &self,
        sent: TypeMeta,
        json: &[u8],
        expected: Expected<'_>,
        scheme: &Scheme,
    ) -> Result<TypeMeta, Mismatch>;

    /// Checks the kind and version that the result `json` of a patch names; `is_of_status` if only the status is written.
    ///
    /// # Errors
    ///
    /// The reason for which the result is not of the expected kind.
    fn check_patched_kind(
        &self,
        sent: TypeMeta,
        json: &[u8],
        expected: Expected<'_>,
        scheme: &Scheme,
        is_of_status: bool,
    ) -> Result<PatchedVersion, Mismatch>;

    /// The type of a patch with a media type that is not one of any kind; `applies` are those of applies.
    ///
    /// # Errors
    ///
    /// 415 when the kind has no such patches.
    fn other_patch(&self, request: &Parts, patch_type: &str, applies: &[&'static str]) -> ApiResult<PatchKind>;

    /// The document `json` of an object, as messages print it; `None` if it cannot be printed so.
    fn printed<'d>(&self, json: &'d [u8]) -> Option<Cow<'d, [u8]>>;

    /// True if objects distinguish empty lists and maps from absent ones.
    fn keeps_empty(&self) -> bool;

    /// Marks the managers of an object as forgotten, if its document `json` says that and not just nothing about them.
    fn reset_managers(&self, meta: &mut ObjectMeta, json: &[u8]);

    /// Reads the result of the apply `sent` into `target`, a zero object. Returns the fields that could be applied and are not stored.
    ///
    /// # Errors
    ///
    /// The reason that the document is not an object of its kind.
    fn read_applied(&self, document: Tree, sent: &Sent, target: &mut dyn Object) -> Result<PrunedPaths, String>;
}

impl SentDocuments for Declared {
    fn check_kind(
        &self,
        sent: TypeMeta,
        json: &[u8],
        expected: Expected<'_>,
        scheme: &Scheme,
    ) -> Result<TypeMeta, Mismatch> {
        declared_kind::check(sent, json, expected, scheme)
    }

    fn check_patched_kind(
        &self,
        sent: TypeMeta,
        json: &[u8],
        expected: Expected<'_>,
        scheme: &Scheme,
        _: bool,
    ) -> Result<PatchedVersion, Mismatch> {
        declared_kind::check_patched(sent, json, expected, scheme)
    }

    fn other_patch(&self, request: &Parts, patch_type: &str, applies: &[&'static str]) -> ApiResult<PatchKind> {
        if patch_type == STRATEGIC_MERGE_PATCH {
            return Ok(PatchKind::Strategic);
        }
        let accepted = [&[JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH], applies].concat();
        // The route accepts a list of types, and patches have one.
        Err(match route::consumes(request, &accepted) {
            true => ApiError::unsupported_media_type(&accepted),
            false => route::not_consumed(),
        })
    }

    fn printed<'d>(&self, json: &'d [u8]) -> Option<Cow<'d, [u8]>> {
        Some(Cow::Borrowed(json))
    }

    fn keeps_empty(&self) -> bool {
        false
    }

    fn reset_managers(&self, meta: &mut ObjectMeta, json: &[u8]) {
        if meta.managed_fields.is_empty() && managers::resets_managers(json) {
            meta.managed_fields = vec![ManagedFieldsEntry::default()];
        }
    }

    fn read_applied(&self, document: Tree, sent: &Sent, target: &mut dyn Object) -> Result<PrunedPaths, String> {
        read_typed(&document, sent, target)?;
        Ok(PrunedPaths::default())
    }
}

impl SentDocuments for Custom {
    fn check_kind(
        &self,
        sent: TypeMeta,
        json: &[u8],
        expected: Expected<'_>,
        _: &Scheme,
    ) -> Result<TypeMeta, Mismatch> {
        custom_kind::check(sent, json, expected)
    }

    fn check_patched_kind(
        &self,
        sent: TypeMeta,
        json: &[u8],
        expected: Expected<'_>,
        _: &Scheme,
        is_of_status: bool,
    ) -> Result<PatchedVersion, Mismatch> {
        custom_kind::check_patched(&sent, json, expected, is_of_status).map(|()| PatchedVersion::Own)
    }

    fn other_patch(&self, _: &Parts, _: &str, applies: &[&'static str]) -> ApiResult<PatchKind> {
        // Schemas do not declare how lists are merged.
        Err(ApiError::unsupported_media_type(
            &[&[JSON_PATCH, MERGE_PATCH], applies].concat(),
        ))
    }

    fn printed<'d>(&self, json: &'d [u8]) -> Option<Cow<'d, [u8]>> {
        patches::sorted(json).map(Cow::Owned)
    }

    fn keeps_empty(&self) -> bool {
        true
    }

    fn reset_managers(&self, _: &mut ObjectMeta, _: &[u8]) {
        // Documents lose an empty list earlier.
    }

    fn read_applied(&self, mut document: Tree, _: &Sent, target: &mut dyn Object) -> Result<PrunedPaths, String> {
        if let Some(Tree::Object(metadata)) = document.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        custom::read_applied(document, target).map_err(|error| error.to_string())
    }
}

/// Reads the result of the apply `sent` into `target`, a zero value of a declared type.
///
/// # Errors
///
/// The reason that the document is not such a value.
pub(crate) fn read_typed(document: &Tree, sent: &Sent, target: &mut dyn Struct) -> Result<(), String> {
    unstructured::read(document, target)
        .map_err(|why| format!("unable to convert unstructured object to {}: {why}", sent.kind()))
}
