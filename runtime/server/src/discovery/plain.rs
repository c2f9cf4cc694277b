//! The plain list of groups.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::{ApiGroup, GroupVersionForDiscovery};

/// All groups, at `/apis`.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIGroupList", type_meta("v1", "APIGroupList"))]
pub(crate) struct PlainList {
    /// The groups.
    #[field(keep, required, proto = 1, list_type = atomic)]
    groups: Vec<PlainGroup>,
}

/// A group in the list, where its kind is left out.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIGroup")]
struct PlainGroup {
    /// Name of the group.
    #[field(keep, required, proto = 1)]
    name: String,
    /// Versions of the group.
    #[field(keep, required, proto = 2, list_type = atomic)]
    versions: Vec<GroupVersionForDiscovery>,
    /// The version that clients should use by default.
    #[field(proto = 3)]
    preferred_version: GroupVersionForDiscovery,
}

impl PlainList {
    /// The list of `groups`.
    pub(crate) fn new(groups: &[ApiGroup]) -> Self {
        let groups = groups.iter().map(|group| PlainGroup {
            name: group.name.clone(),
            versions: group.versions.clone(),
            preferred_version: group.preferred_version.clone(),
        });
        Self {
            groups: groups.collect(),
        }
    }
}
