//! Reviews that authenticate a token.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::authentication::v1::{self, TokenReviewSpec, TokenReviewStatus};

/// Checks a token and returns its user.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1beta1", cluster, create_only, unserved)]
#[resource(storage_version = v1::TokenReview)]
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
