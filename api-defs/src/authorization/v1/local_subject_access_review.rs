//! Reviews of a user's permission in a namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use super::attributes::{check_no_metadata, rendered};
use super::{SubjectAccessReviewSpec, SubjectAccessReviewStatus};

/// Checks the permission of a user or group in one namespace. The right to create this review can be granted for single
/// namespaces.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1", create_only, strategy)]
pub struct LocalSubjectAccessReview {
    /// Standard metadata. Must be empty except for the namespace.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The action, in the namespace of the request, and the user.
    #[field(proto = 2, keep)]
    pub spec: SubjectAccessReviewSpec,
    /// The decision.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

impl Strategy for LocalSubjectAccessReview {
    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(errors);
        check_no_metadata(&self.metadata, true, errors);
        if let Some(resource) = &self.spec.resource_attributes
            && resource.namespace != self.metadata.namespace
        {
            let problem = "must match metadata.namespace";
            errors.invalid("spec.resourceAttributes.namespace", &resource.namespace, problem);
        }
        if let Some(path) = &self.spec.non_resource_attributes {
            let problem = "disallowed on this kind of request";
            errors.invalid("spec.nonResourceAttributes", Json(&rendered(path)), problem);
        }
    }
}
