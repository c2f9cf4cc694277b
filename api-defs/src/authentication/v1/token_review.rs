//! Reviews that authenticate a token.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use super::UserInfo;

/// Checks a token and returns its user.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1", cluster, create_only)]
pub struct TokenReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The token to check.
    #[field(proto = 2, keep)]
    pub spec: TokenReviewSpec,
    /// Result of the check.
    #[field(proto = 3)]
    pub status: TokenReviewStatus,
}

/// The token that a TokenReview checks.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenReviewSpec {
    /// Token in the form that clients send.
    #[field(proto = 1, expected)]
    pub token: String,
    /// Audiences, at least one of which the token must have. The API server itself when empty.
    #[field(proto = 2, list_type = atomic)]
    pub audiences: Vec<String>,
}

/// Result of a TokenReview.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenReviewStatus {
    /// True if the token is valid.
    #[field(proto = 1)]
    pub authenticated: bool,
    /// The user that the token belongs to.
    #[field(proto = 2)]
    pub user: UserInfo,
    /// Requested audiences that the token is valid for. The requester must verify that it is one of them. For a valid
    /// token, an empty list stands for the API server.
    #[field(proto = 4, list_type = atomic)]
    pub audiences: Vec<String>,
    /// Reason why the token could not be checked.
    #[field(proto = 3)]
    pub error: String,
}
