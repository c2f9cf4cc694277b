//! May this user do that in this namespace?

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;

use super::attributes::{check_no_metadata, shown};
use super::{SubjectAccessReviewSpec, SubjectAccessReviewStatus};

/// Asks whether a user or group may do something in one namespace. Whoever may ask can be limited to namespaces.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1", create_only, rules)]
pub struct LocalSubjectAccessReview {
    /// Standard metadata; must be empty but for the namespace.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The question, about the namespace of the request.
    #[field(proto = 2, keep)]
    pub spec: SubjectAccessReviewSpec,
    /// The answer.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

impl Rules for LocalSubjectAccessReview {
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
            errors.invalid("spec.nonResourceAttributes", Json(&shown(path)), problem);
        }
    }
}
