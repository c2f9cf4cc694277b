//! Reviews that authenticate a token.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::authentication::v1::{self, TokenReviewSpec, TokenReviewStatus};

/// Asks whether a token is valid, and whose it is.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authentication.k8s.io", version = "v1beta1", cluster, create_only, unserved)]
#[resource(storage_version = v1::TokenReview)]
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
