//! Groups as aggregated discovery lists them.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::{GroupVersionKind, ObjectMeta};

/// A group with all its versions and their resources, as aggregated discovery lists it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("apidiscovery.k8s.io/v2", "APIGroupDiscovery"))]
pub struct APIGroupDiscovery {
    /// Standard metadata. The name is that of the group; empty for the core group.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Versions of the group, the preferred one first.
    #[field(proto = 2, list_type = map, list_map_keys("version"))]
    pub versions: Vec<APIVersionDiscovery>,
}

/// A version of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct APIVersionDiscovery {
    /// Name of the version.
    #[field(proto = 1, keep)]
    pub version: String,
    /// Resources of the version.
    #[field(proto = 2, list_type = map, list_map_keys("resource"))]
    pub resources: Vec<APIResourceDiscovery>,
    /// Current, or Stale if the server of the version could not be reached recently.
    #[field(proto = 3, go_type = "DiscoveryFreshness")]
    pub freshness: String,
}

/// A resource in a version.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct APIResourceDiscovery {
    /// Plural name of the resource, as in paths.
    #[field(proto = 1, keep)]
    pub resource: String,
    /// Kind of the objects that responses contain.
    #[field(proto = 2)]
    pub response_kind: Option<GroupVersionKind>,
    /// Cluster or Namespaced.
    #[field(proto = 3, keep, go_type = "ResourceScope")]
    pub scope: String,
    /// Singular name.
    #[field(proto = 4, keep)]
    pub singular_resource: String,
    /// Verbs that the resource supports.
    #[field(proto = 5, keep, list_type = set)]
    pub verbs: Vec<String>,
    /// Short names.
    #[field(proto = 6, list_type = set)]
    pub short_names: Vec<String>,
    /// Categories, such as all.
    #[field(proto = 7, list_type = set)]
    pub categories: Vec<String>,
    /// Subresources.
    #[field(proto = 8, list_type = map, list_map_keys("subresource"))]
    pub subresources: Vec<APISubresourceDiscovery>,
}

/// A subresource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct APISubresourceDiscovery {
    /// Last element of the path.
    #[field(proto = 1, keep)]
    pub subresource: String,
    /// Kind of the objects that responses contain. Empty when responses contain no API object.
    #[field(proto = 2)]
    pub response_kind: Option<GroupVersionKind>,
    /// Kinds that request bodies may contain.
    #[field(proto = 3, list_type = map, list_map_keys("group", "version", "kind"))]
    pub accepted_types: Vec<GroupVersionKind>,
    /// Verbs that the resource supports.
    #[field(proto = 4, keep, list_type = set)]
    pub verbs: Vec<String>,
}
