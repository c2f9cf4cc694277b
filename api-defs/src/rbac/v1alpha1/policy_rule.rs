//! Single rights.

use planesmith_machinery::Struct;

/// A right: what may be done to which resources, or to which paths of the server that are no resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PolicyRule {
    /// Verbs of the allowed requests.
    #[field(proto = 1, keep, list_type = atomic)]
    pub verbs: Vec<String>,
    /// The groups of the resources.
    #[field(proto = 3, list_type = atomic)]
    pub api_groups: Vec<String>,
    /// The resources by their names in paths.
    #[field(proto = 4, list_type = atomic)]
    pub resources: Vec<String>,
    /// The names of the objects that the right is about; all objects when empty.
    #[field(proto = 5, list_type = atomic)]
    pub resource_names: Vec<String>,
    /// Paths that are no resources.
    #[field(name = "nonResourceURLs", proto = 6, list_type = atomic)]
    pub non_resource_urls: Vec<String>,
}
