//! Reviews that list the requester's permissions in a namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

/// Asks what the client may do in a namespace. The answer is for showing and hiding parts of user interfaces, not for
/// decisions: it can be incomplete.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1", cluster, create_only)]
pub struct SelfSubjectRulesReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The question.
    #[field(proto = 2, keep)]
    pub spec: SelfSubjectRulesReviewSpec,
    /// The answer.
    #[field(proto = 3)]
    pub status: SubjectRulesReviewStatus,
}

/// The question of a SelfSubjectRulesReview.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SelfSubjectRulesReviewSpec {
    /// The namespace; required.
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
    /// Verbs; `*` for all.
    #[field(proto = 1, keep, list_type = atomic)]
    pub verbs: Vec<String>,
    /// API groups; `*` for all.
    #[field(proto = 2, list_type = atomic)]
    pub api_groups: Vec<String>,
    /// Resources, subresources behind a slash; `*` for all of the groups.
    #[field(proto = 3, list_type = atomic)]
    pub resources: Vec<String>,
    /// Names that the rule is limited to; no limit when empty.
    #[field(proto = 4, list_type = atomic)]
    pub resource_names: Vec<String>,
}

/// A permission on paths that are no resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NonResourceRule {
    /// HTTP methods in lower case; `*` for all.
    #[field(proto = 1, keep, list_type = atomic)]
    pub verbs: Vec<String>,
    /// Paths; a `*` at the end stands for anything.
    #[field(name = "nonResourceURLs", proto = 2, list_type = atomic)]
    pub non_resource_urls: Vec<String>,
}
