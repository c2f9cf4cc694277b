//! The kind that a document must have.

use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::meta::TypeMeta;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiError;
use planesmith_machinery::strategy::ExtensionHooks;

use super::Representation;

/// The kind that a document must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'f> {
    pub(crate) group: &'f str,
    pub(crate) api_version: &'f str,
    pub(crate) kind: &'f str,
    /// Further versions of the kind that the Go scheme has, and this server does not.
    pub(crate) former_versions: &'static [&'static str],
    /// The Go scheme that has the kind, for messages.
    pub(crate) scheme: &'static str,
    /// The representation of the objects.
    pub(crate) representation: &'static dyn Representation,
    /// The extensions of the kind.
    pub(crate) hooks: &'static dyn ExtensionHooks,
    /// The message for a body that cannot be read, for readers that do not know the kind well enough to report more.
    pub(crate) unknown: Option<&'static str>,
}

impl<'f> From<&'f ResourceFacts> for Expected<'f> {
    fn from(facts: &'f ResourceFacts) -> Self {
        Self {
            group: &facts.group,
            api_version: &facts.api_version,
            kind: &facts.kind,
            former_versions: &[],
            scheme: facts.hub().extensions.scheme_name,
            representation: super::of(facts),
            hooks: facts.extensions.hooks,
            unknown: None,
        }
    }
}

/// The reason for which a document is not read as the expected kind.
#[derive(Debug)]
pub(crate) enum Mismatch {
    /// It does not say which kind it has.
    Unknown(String),
    /// It has the kind of the first value, which cannot be read as the expected one.
    Kind(TypeMeta, String),
    /// It is refused with this error, wherever it comes from.
    Refused(ApiError),
}

impl From<ApiError> for Mismatch {
    fn from(error: ApiError) -> Self {
        Mismatch::Refused(error)
    }
}

/// The group and version that a document names.
pub(super) fn version_of(sent: &TypeMeta) -> Result<GroupVersion, Mismatch> {
    GroupVersion::parse(&sent.api_version).map_err(|error| Mismatch::Unknown(error.to_string()))
}

/// The Go type of a kind inside kube-apiserver, as messages print it: `apps.Deployment`.
pub(super) fn internal_type(group: &str, kind: &str) -> String {
    let package = group.split('.').next().filter(|package| !package.is_empty());
    format!("{}.{kind}", package.unwrap_or("core"))
}

/// The kind and version that a document names, in their canonical form.
pub(crate) fn canonical(mut sent: TypeMeta) -> TypeMeta {
    let version = GroupVersion::canonical(&sent.api_version);
    if version.len() < sent.api_version.len() {
        sent.api_version = version.to_owned();
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
