//! Discovery documents: the resources of one version.

use crate::Struct;

/// Resources of one version of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIResourceList", type_meta("v1", "APIResourceList"))]
pub struct ApiResourceList {
    /// Group and version of the resources.
    #[field(keep, required, proto = 1)]
    pub group_version: String,
    /// The resources, subresources among them.
    #[field(keep, required, proto = 2, list_type = atomic)]
    pub resources: Vec<ApiResource>,
}

/// A resource or subresource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIResource")]
pub struct ApiResource {
    /// Plural name, as in paths. The name of a subresource follows the name of its resource and a slash.
    #[field(keep, required, proto = 1)]
    pub name: String,
    /// Singular name.
    #[field(keep, required, proto = 6)]
    pub singular_name: String,
    /// True if objects belong to a namespace.
    #[field(keep, required, proto = 2)]
    pub namespaced: bool,
    /// Group of the kind; empty if it is the group of the list.
    #[field(proto = 8)]
    pub group: String,
    /// Version of the kind; empty if it is the version of the list.
    #[field(proto = 9)]
    pub version: String,
    /// The kind of the objects.
    #[field(keep, required, proto = 3)]
    pub kind: String,
    /// Supported verbs: `get`, `list`, `watch` and so on. Optional only for its protobuf form, which is a message
    /// around the list.
    #[field(keep, required, proto = 4, go_type = "Verbs")]
    pub verbs: Option<Vec<String>>,
    /// Abbreviations.
    #[field(proto = 5, list_type = atomic)]
    pub short_names: Vec<String>,
    /// Groups of resources that the resource belongs to, e.g. `all`.
    #[field(proto = 7, list_type = atomic)]
    pub categories: Vec<String>,
    /// Hash of the storage version; opaque.
    #[field(proto = 10)]
    pub storage_version_hash: String,
}
