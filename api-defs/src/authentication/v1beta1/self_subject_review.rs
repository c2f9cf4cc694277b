//! Reviews that return the user information of the requester.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::authentication::v1::{self, SelfSubjectReviewStatus};

/// Requests the user information that the server has about the requester.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1beta1", cluster, create_only, unserved)]
#[resource(storage_version = v1::SelfSubjectReview)]
pub struct SelfSubjectReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// User information of the requester.
    #[field(proto = 2)]
    pub status: SelfSubjectReviewStatus,
}
