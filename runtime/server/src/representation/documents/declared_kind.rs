//! The kinds that documents of a declared kind name: any kind of the scheme is known.

use planesmith_dynamic::custom;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json::{DecodeError, Strictness};
use planesmith_machinery::meta::{self, TypeMeta};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::{Scheme, not_registered};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;
use serde_json::Value as Tree;

use super::PatchedVersion;
use crate::representation::expected::{Expected, Mismatch, canonical, internal_type, is_of_machinery, version_of};

/// Completes the kind and version of a body, and checks them.
pub(super) fn check(
    sent: TypeMeta,
    json: &[u8],
    expected: Expected<'_>,
    scheme: &Scheme,
) -> Result<TypeMeta, Mismatch> {
    let version = version_of(&sent)?;
    let sent = complete(canonical(sent), &version, expected);
    check_complete(sent, json, expected, scheme)
}

/// Checks the kind and version of a patched object. It may have become one of another version.
pub(super) fn check_patched(
    sent: TypeMeta,
    json: &[u8],
    expected: Expected<'_>,
    scheme: &Scheme,
) -> Result<PatchedVersion, Mismatch> {
    let sent = canonical(sent);
    if sent.api_version.is_empty() && (sent.kind.is_empty() || sent.kind == expected.kind) {
        return Ok(PatchedVersion::Internal);
    }
    version_of(&sent)?;
    if let Some(other) = other_version(&sent, expected, scheme) {
        return Ok(other);
    }
    check_complete(sent, json, expected, scheme).map(|_| PatchedVersion::Own)
}

/// Checks that `document`, which a plugin has changed, is still of the kind `facts`, or of another version of it. Returns that
/// version; `None` for the version of `facts`. Documents of a custom kind are not checked.
///
/// # Errors
///
/// 500 for a document of another kind.
pub fn check_changed_kind<'s>(
    document: &Tree,
    facts: &ResourceFacts,
    scheme: &'s Scheme,
) -> ApiResult<Option<&'s ResourceFacts>> {
    if facts.custom.is_some() {
        return Ok(None);
    }
    let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
    let sent = TypeMeta {
        api_version: text("apiVersion"),
        kind: text("kind"),
    };
    let other = scheme.object_kind(&sent.api_version, &sent.kind);
    if let Some(other) = other.filter(|other| *other != facts && facts.is_version_of(other)) {
        return Ok(Some(other));
    }
    match check(sent, &[], facts.into(), scheme) {
        // kube-apiserver decodes a known kind, and fails later to convert it.
        Err(Mismatch::Kind(sent, why)) if scheme.object_kind(&sent.api_version, &sent.kind).is_some() => {
            Err(ApiError::unnamed(500, why))
        }
        Err(Mismatch::Kind(_, why) | Mismatch::Unknown(why)) => Err(ApiError::internal(why)),
        Ok(_) | Err(Mismatch::Refused(_)) => Ok(None),
    }
}

/// Sets the parts of kind and version that a document leaves out.
fn complete(mut sent: TypeMeta, version: &GroupVersion, expected: Expected<'_>) -> TypeMeta {
    if version.version.is_empty() && (version.group.is_empty() || version.group == expected.group) {
        expected.api_version.clone_into(&mut sent.api_version);
    }
    if sent.kind.is_empty() {
        expected.kind.clone_into(&mut sent.kind);
    }
    sent
}

/// The other version of the expected kind that a document names, if it is one.
fn other_version(sent: &TypeMeta, expected: Expected<'_>, scheme: &Scheme) -> Option<PatchedVersion> {
    let own = scheme.object_kind(expected.api_version, expected.kind)?;
    let other = scheme.object_kind(&sent.api_version, &sent.kind)?;
    let is_other = own != other && own.is_version_of(other);
    is_other.then(|| PatchedVersion::Other {
        own: own.clone(),
        other: other.clone(),
    })
}

/// Checks that a document of the kind `sent` has the expected kind; `json` is the document, or empty.
fn check_complete(sent: TypeMeta, json: &[u8], expected: Expected<'_>, scheme: &Scheme) -> Result<TypeMeta, Mismatch> {
    let TypeMeta { api_version, kind } = &sent;
    let fits = |own: &str, expected: &str| own.is_empty() || own == expected;
    if fits(api_version, expected.api_version) && fits(kind, expected.kind) {
        return Ok(sent);
    }
    let is_near = |other: &&ResourceFacts| other.hub().extensions.scheme_name == expected.scheme;
    let known = scheme.object_kind(api_version, kind).filter(is_near);
    let is_options = is_of_machinery(&sent, expected.api_version) || kind == "DeleteOptions" && known.is_none();
    let zero: Option<Box<dyn Struct>> = match known {
        Some(known) => Some(known.zero()),
        None => is_options.then(|| of_machinery(kind)).flatten(),
    };
    // It is decoded as its own kind before that is compared with the expected one.
    if let Some(mut own) = zero.filter(|_| !json.is_empty())
        && let Err(DecodeError::Syntax(why) | DecodeError::Type(why)) =
            custom::decode(json, &mut *own, Strictness::Lenient)
    {
        return Err(Mismatch::Kind(sent, why));
    }
    let is_former = expected.kind == kind && expected.former_versions.contains(&api_version.as_str());
    if is_former || known.is_some_and(|known| known.group == expected.group && known.kind == expected.kind) {
        return Err(ApiError::version_mismatch(api_version, expected.api_version).into());
    }
    let listed = kind.strip_suffix("List");
    let is_list = listed.is_some_and(|kind| {
        scheme
            .object_kind(api_version, kind)
            .is_some_and(|listed| is_near(&listed))
    }) || (api_version == "v1" && kind == "List");
    let why = if known.is_some() || is_list || is_options {
        let version = api_version.rsplit('/').next().unwrap_or_default();
        // A kind that moved to another group has its internal type in the group in which it is stored.
        let hub = scheme
            .object_kind(expected.api_version, expected.kind)
            .map(ResourceFacts::hub);
        let wanted = internal_type(hub.as_ref().map_or(expected.group, |hub| &hub.group), expected.kind);
        format!("converting ({version}.{kind}) to ({wanted}): unknown conversion")
    } else {
        not_registered(kind, api_version, expected.scheme)
    };
    Err(Mismatch::Kind(sent, why))
}

/// Returns a zero object of a kind that is known beside those of a scheme; `None` for kinds that have no type here.
fn of_machinery(kind: &str) -> Option<Box<dyn Struct>> {
    Some(match kind {
        "Status" => Box::new(meta::Status::default()),
        "CreateOptions" => Box::new(meta::CreateOptions::default()),
        "DeleteOptions" => Box::new(meta::DeleteOptions::default()),
        "GetOptions" => Box::new(meta::GetOptions::default()),
        "ListOptions" => Box::new(meta::ListOptions::default()),
        "PatchOptions" => Box::new(meta::PatchOptions::default()),
        "UpdateOptions" => Box::new(meta::UpdateOptions::default()),
        _ => return None,
    })
}
