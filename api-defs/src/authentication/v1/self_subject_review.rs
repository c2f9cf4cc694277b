//! Reviews that return the user information of the requester.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use super::UserInfo;

/// Requests the user information that the server has about the requester, including the effects of impersonation.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1", cluster, create_only)]
pub struct SelfSubjectReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// User information of the requester.
    #[field(proto = 2)]
    pub status: SelfSubjectReviewStatus,
}

/// Result of a SelfSubjectReview.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SelfSubjectReviewStatus {
    /// The user who sent the request.
    #[field(proto = 1)]
    pub user_info: UserInfo,
}
