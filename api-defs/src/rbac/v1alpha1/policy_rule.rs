//! Rules of roles.

use planesmith_machinery::Struct;

/// A permission for certain verbs on resources, or on URL paths that are not resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PolicyRule {
    /// Verbs of the allowed requests.
    #[field(proto = 1, keep, list_type = atomic)]
    pub verbs: Vec<String>,
    /// API groups.
    #[field(proto = 3, list_type = atomic)]
    pub api_groups: Vec<String>,
    /// Resources by their names in paths.
    #[field(proto = 4, list_type = atomic)]
    pub resources: Vec<String>,
    /// Names of the objects; all objects when empty.
    #[field(proto = 5, list_type = atomic)]
    pub resource_names: Vec<String>,
    /// URL paths that are not resources.
    #[field(name = "nonResourceURLs", proto = 6, list_type = atomic)]
    pub non_resource_urls: Vec<String>,
}
