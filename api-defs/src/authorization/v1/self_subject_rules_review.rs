//! Reviews that list the requester's permissions in a namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

/// Lists the permissions of the requester in a namespace. The result may be incomplete; it is meant for user
/// interfaces, not for access decisions.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1", cluster, create_only)]
pub struct SelfSubjectRulesReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The namespace.
    #[field(proto = 2, keep)]
    pub spec: SelfSubjectRulesReviewSpec,
    /// The permissions.
    #[field(proto = 3)]
    pub status: SubjectRulesReviewStatus,
}

/// The namespace that a SelfSubjectRulesReview covers.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SelfSubjectRulesReviewSpec {
    /// Namespace. Required.
    #[field(proto = 1)]
    pub namespace: String,
}

/// Permissions of the requester. The order has no meaning, and rules can overlap.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SubjectRulesReviewStatus {
    /// Permissions on resources.
    #[field(proto = 1, keep, list_type = atomic)]
    pub resource_rules: Vec<ResourceRule>,
    /// Permissions on paths that are no resources.
    #[field(proto = 2, keep, list_type = atomic)]
    pub non_resource_rules: Vec<NonResourceRule>,
    /// True if the requester may have more permissions than listed, because an authorizer cannot list its rules.
    #[field(proto = 3, keep)]
    pub incomplete: bool,
    /// Errors that occurred while the rules were collected. The listed rules are valid nonetheless.
    #[field(proto = 4)]
    pub evaluation_error: String,
}

/// A permission on resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceRule {
    /// Verbs; `*` stands for all.
    #[field(proto = 1, keep, list_type = atomic)]
    pub verbs: Vec<String>,
    /// API groups; `*` stands for all.
    #[field(proto = 2, list_type = atomic)]
    pub api_groups: Vec<String>,
    /// Resources and, after a slash, subresources; `*` stands for all resources of the groups.
    #[field(proto = 3, list_type = atomic)]
    pub resources: Vec<String>,
    /// Names of objects. No limit when empty.
    #[field(proto = 4, list_type = atomic)]
    pub resource_names: Vec<String>,
}

/// A permission on paths that are no resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NonResourceRule {
    /// HTTP methods in lower case; `*` stands for all.
    #[field(proto = 1, keep, list_type = atomic)]
    pub verbs: Vec<String>,
    /// URL paths; a trailing `*` matches any suffix.
    #[field(name = "nonResourceURLs", proto = 2, list_type = atomic)]
    pub non_resource_urls: Vec<String>,
}
