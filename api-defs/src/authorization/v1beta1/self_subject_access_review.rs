//! Reviews of the requester's own permission.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::authorization::v1::{self, SelfSubjectAccessReviewSpec, SubjectAccessReviewStatus};

/// Checks a permission of the requester.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1beta1", cluster, create_only, unserved)]
#[resource(storage_version = v1::SelfSubjectAccessReview)]
pub struct SelfSubjectAccessReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The action.
    #[field(proto = 2, keep)]
    pub spec: SelfSubjectAccessReviewSpec,
    /// The decision.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}
