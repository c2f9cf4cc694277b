//! Reviews of the requester's own permission.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use super::attributes::{check_attributes, check_no_metadata};
use super::{NonResourceAttributes, ResourceAttributes, SubjectAccessReviewStatus};

/// Checks a permission of the requester.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1", cluster, create_only, strategy)]
pub struct SelfSubjectAccessReview {
    /// Standard metadata. Must be empty.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The action.
    #[field(proto = 2, keep)]
    pub spec: SelfSubjectAccessReviewSpec,
    /// The decision.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

/// The action that the client intends. Exactly one of the two fields is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SelfSubjectAccessReviewSpec {
    /// An action on a resource.
    #[field(proto = 1)]
    pub resource_attributes: Option<ResourceAttributes>,
    /// An action on a path that is not a resource.
    #[field(proto = 2)]
    pub non_resource_attributes: Option<NonResourceAttributes>,
}

impl Strategy for SelfSubjectAccessReview {
    fn validate(&self, errors: &mut FieldErrors) {
        let (resource, path) = (&self.spec.resource_attributes, &self.spec.non_resource_attributes);
        check_attributes(resource.as_ref(), path.as_ref(), |_| {}, errors);
        check_no_metadata(&self.metadata, false, errors);
    }
}
