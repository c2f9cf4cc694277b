//! May this user do that?

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;

use super::attributes::{check_attributes, check_no_metadata};
use super::{NonResourceAttributes, ResourceAttributes};

/// Asks whether a user or group may do something.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1", cluster, create_only, rules)]
pub struct SubjectAccessReview {
    /// Standard metadata; must be empty.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The question.
    #[field(proto = 2, keep)]
    pub spec: SubjectAccessReviewSpec,
    /// The answer.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

/// Who wants to do what. Exactly one kind of attributes is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SubjectAccessReviewSpec {
    /// An action on a resource.
    #[field(proto = 1)]
    pub resource_attributes: Option<ResourceAttributes>,
    /// An action on a path that is no resource.
    #[field(proto = 2)]
    pub non_resource_attributes: Option<NonResourceAttributes>,
    /// Name of the user. With groups and no user the question is what any member may do.
    #[field(proto = 3)]
    pub user: String,
    /// Groups of the user.
    #[field(proto = 4, list_type = atomic)]
    pub groups: Vec<String>,
    /// What else is known about the user, as authentication finds it.
    #[field(proto = 5, go_type = "map[string]ExtraValue")]
    pub extra: BTreeMap<String, Vec<String>>,
    /// UID of the user.
    #[field(proto = 6)]
    pub uid: String,
}

/// Whether the action is allowed.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SubjectAccessReviewStatus {
    /// Whether it is allowed.
    #[field(proto = 1, keep)]
    pub allowed: bool,
    /// Whether it is forbidden whatever others say. Neither allowed nor denied means that nothing speaks for it.
    #[field(proto = 4)]
    pub denied: bool,
    /// Why.
    #[field(proto = 2)]
    pub reason: String,
    /// What went wrong while deciding; the answer may still be good.
    #[field(proto = 3)]
    pub evaluation_error: String,
}

impl Rules for SubjectAccessReview {
    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(errors);
        check_no_metadata(&self.metadata, false, errors);
    }
}

impl SubjectAccessReviewSpec {
    /// Reports what is wrong with the question.
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
