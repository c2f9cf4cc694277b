//! Reviews of a user's permission.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use super::attributes::{check_attributes, check_no_metadata};
use super::{NonResourceAttributes, ResourceAttributes};

/// Checks the permission of a user or group.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1", cluster, create_only, strategy)]
pub struct SubjectAccessReview {
    /// Standard metadata. Must be empty.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The action and the user.
    #[field(proto = 2, keep)]
    pub spec: SubjectAccessReviewSpec,
    /// The decision.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

/// The user and the action to authorize. Exactly one kind of attributes is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SubjectAccessReviewSpec {
    /// An action on a resource.
    #[field(proto = 1)]
    pub resource_attributes: Option<ResourceAttributes>,
    /// An action on a path that is not a resource.
    #[field(proto = 2)]
    pub non_resource_attributes: Option<NonResourceAttributes>,
    /// Name of the user. If only groups are set, the review applies to any member of them.
    #[field(proto = 3)]
    pub user: String,
    /// Groups of the user.
    #[field(proto = 4, list_type = atomic)]
    pub groups: Vec<String>,
    /// Further information about the user from the authenticator.
    #[field(proto = 5, go_type = "map[string]ExtraValue")]
    pub extra: BTreeMap<String, Vec<String>>,
    /// UID of the user.
    #[field(proto = 6)]
    pub uid: String,
}

/// The decision about an action.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SubjectAccessReviewStatus {
    /// True if the action is allowed.
    #[field(proto = 1, keep)]
    pub allowed: bool,
    /// True if an authorizer denied the action, which no other authorizer overrides. An action that is neither allowed
    /// nor denied has no authorizer with an opinion on it.
    #[field(proto = 4)]
    pub denied: bool,
    /// Reason of the decision.
    #[field(proto = 2)]
    pub reason: String,
    /// Error that occurred during the decision. The decision can still be valid.
    #[field(proto = 3)]
    pub evaluation_error: String,
}

impl Strategy for SubjectAccessReview {
    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(errors);
        check_no_metadata(&self.metadata, false, errors);
    }
}

impl SubjectAccessReviewSpec {
    /// Reports errors in the spec.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        let subject = |errors: &mut FieldErrors| {
            if self.user.is_empty() && self.groups.is_empty() {
                errors.invalid("spec.user", "", "at least one of user or group must be specified");
            }
        };
        let (resource, path) = (&self.resource_attributes, &self.non_resource_attributes);
        check_attributes(resource.as_ref(), path.as_ref(), subject, errors);
    }
}
