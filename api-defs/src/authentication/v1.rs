//! `authentication.k8s.io/v1`.

mod self_subject_review;
mod token_request;
mod token_review;
mod user_info;

pub use self_subject_review::{SelfSubjectReview, SelfSubjectReviewStatus};
pub use token_request::{BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus};
pub use token_review::{TokenReview, TokenReviewSpec, TokenReviewStatus};
pub use user_info::UserInfo;
