//! May I do that?

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::authorization::v1::{self, SelfSubjectAccessReviewSpec, SubjectAccessReviewStatus};

/// Asks whether the client itself may do something.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1beta1", cluster, create_only, unserved)]
#[resource(storage_version = v1::SelfSubjectAccessReview)]
pub struct SelfSubjectAccessReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The question.
    #[field(proto = 2, keep)]
    pub spec: SelfSubjectAccessReviewSpec,
    /// The answer.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}
