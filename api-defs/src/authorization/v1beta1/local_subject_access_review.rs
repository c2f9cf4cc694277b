//! Reviews of a user's permission in a namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use super::SubjectAccessReviewSpec;
use crate::authorization::v1::{self, SubjectAccessReviewStatus};

/// Checks the permission of a user or group in one namespace.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1beta1", create_only, unserved)]
#[resource(storage_version = v1::LocalSubjectAccessReview)]
pub struct LocalSubjectAccessReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The action and the user.
    #[field(proto = 2, keep)]
    pub spec: SubjectAccessReviewSpec,
    /// The decision.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}
