//! Reviews that authenticate a token.

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use super::UserInfo;

/// Asks whether a token is valid, and whose it is.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1", cluster, create_only)]
pub struct TokenReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The token in question.
    #[field(proto = 2, keep)]
    pub spec: TokenReviewSpec,
    /// The answer.
    #[field(proto = 3)]
    pub status: TokenReviewStatus,
}

/// The question of a TokenReview.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenReviewSpec {
    /// The token, as a client would send it.
    #[field(proto = 1, expected)]
    pub token: String,
    /// Audiences, at least one of which the token must have. The API server itself when empty.
    #[field(proto = 2, list_type = atomic)]
    pub audiences: Vec<String>,
}

/// The answer to a TokenReview.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenReviewStatus {
    /// True if the token is valid.
    #[field(proto = 1)]
    pub authenticated: bool,
    /// The user that the token belongs to.
    #[field(proto = 2)]
    pub user: UserInfo,
    /// For which of the wanted audiences the token is good. One who asks must find itself here; an empty list of a valid
    /// token means the API server.
    #[field(proto = 4, list_type = atomic)]
    pub audiences: Vec<String>,
    /// Reason why the token could not be checked.
    #[field(proto = 3)]
    pub error: String,
}
