//! The kind that a body must have, and the differences of others.

use planesmith_dynamic::custom;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json::{DecodeError, Strictness};
use planesmith_machinery::meta::TypeMeta;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;

use crate::representation::{self, Representation};

/// The kind that a body must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'f> {
    pub(crate) group: &'f str,
    pub(crate) api_version: &'f str,
    pub(crate) kind: &'f str,
    /// The Go scheme that has the kind, for messages.
    pub(crate) scheme: &'static str,
    /// The representation of the objects.
    pub(crate) representation: &'static dyn Representation,
    /// The message for a body that cannot be read, for readers that do not know the kind well enough to report more.
    pub(crate) unknown: Option<&'static str>,
}

impl<'f> From<&'f ResourceFacts> for Expected<'f> {
    fn from(facts: &'f ResourceFacts) -> Self {
        Self {
            group: &facts.group,
            api_version: &facts.api_version,
            kind: &facts.kind,
            scheme: facts.hub().extensions.scheme_name,
            representation: representation::of(facts),
            unknown: None,
        }
    }
}

/// The message for a document without a kind.
pub(crate) fn missing_kind(document: &[u8]) -> String {
    format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(document))
}

/// A difference between a document's kind and the expected one.
pub(crate) enum Mismatch {
    /// Another version of the kind.
    Version,
    /// Another kind; with kube-apiserver's message.
    Kind(String),
}

/// Sets the parts of kind and version that a document leaves out.
pub(super) fn complete(mut sent: TypeMeta, version: &GroupVersion, expected: Expected<'_>) -> TypeMeta {
    if version.version.is_empty() && (version.group.is_empty() || version.group == expected.group) {
        expected.api_version.clone_into(&mut sent.api_version);
    }
    if sent.kind.is_empty() {
        expected.kind.clone_into(&mut sent.kind);
    }
    sent
}

/// True if a document is a Status, a list of versions or the options of a request, which are known beside the kinds of
/// `version`, whatever that is.
pub(crate) fn is_of_machinery(sent: &TypeMeta, version: &str) -> bool {
    match sent.kind.as_str() {
        "Status" | "APIVersions" | "APIGroup" | "APIGroupList" | "APIResourceList" => sent.api_version == "v1",
        "ListOptions" | "GetOptions" | "CreateOptions" | "UpdateOptions" | "PatchOptions" | "WatchEvent" => {
            sent.api_version == "v1" || sent.api_version == version
        }
        _ => false,
    }
}

/// The difference between a document of the kind `sent` and the expected kind; `json` is the document, or empty.
pub(crate) fn mismatch(scheme: &Scheme, expected: Expected<'_>, sent: &TypeMeta, json: &[u8]) -> Option<Mismatch> {
    let TypeMeta { api_version, kind } = sent;
    let fits = |own: &str, expected: &str| own.is_empty() || own == expected;
    if fits(api_version, expected.api_version) && fits(kind, expected.kind) {
        return None;
    }
    let is_near = |other: &&ResourceFacts| other.hub().extensions.scheme_name == expected.scheme;
    let known = scheme.object_kind(api_version, kind).filter(is_near);
    // It is decoded as its own kind before that is compared with the expected one.
    if let Some(known) = known.filter(|_| !json.is_empty())
        && let Err(DecodeError::Syntax(why) | DecodeError::Type(why)) =
            custom::decode(json, &mut *known.zero(), Strictness::Lenient)
    {
        return Some(Mismatch::Kind(why));
    }
    if known.is_some_and(|known| known.group == expected.group && known.kind == expected.kind) {
        return Some(Mismatch::Version);
    }
    let listed = kind.strip_suffix("List");
    let is_list = listed.is_some_and(|kind| {
        scheme
            .object_kind(api_version, kind)
            .is_some_and(|listed| is_near(&listed))
    }) || (api_version == "v1" && kind == "List");
    let is_options = is_of_machinery(sent, expected.api_version) || kind == "DeleteOptions" && known.is_none();
    Some(Mismatch::Kind(if known.is_some() || is_list || is_options {
        let package = expected.group.split('.').next().filter(|group| !group.is_empty());
        let package = package.unwrap_or("core");
        let version = api_version.rsplit('/').next().unwrap_or_default();
        format!(
            "converting ({version}.{kind}) to ({package}.{}): unknown conversion",
            expected.kind
        )
    } else {
        let scheme = expected.scheme;
        format!("no kind \"{kind}\" is registered for version \"{api_version}\" in scheme \"{scheme}\"")
    }))
}
