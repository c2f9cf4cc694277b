//! Reviews that return the user information of the requester.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use super::UserInfo;

/// Asks as whom the server sees the client; what impersonation makes of it is included.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1", cluster, create_only)]
pub struct SelfSubjectReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The answer.
    #[field(proto = 2)]
    pub status: SelfSubjectReviewStatus,
}

/// The answer to a SelfSubjectReview.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SelfSubjectReviewStatus {
    /// The user who asked.
    #[field(proto = 1)]
    pub user_info: UserInfo,
}
