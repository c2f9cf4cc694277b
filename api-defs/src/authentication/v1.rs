//! `authentication.k8s.io/v1`.

#[cfg(feature = "kubernetes")]
mod self_subject_review;
mod token_request;
#[cfg(feature = "kubernetes")]
mod token_review;
#[cfg(feature = "admissionregistration")]
mod user_info;

#[cfg(feature = "kubernetes")]
pub use self_subject_review::{SelfSubjectReview, SelfSubjectReviewStatus};
pub use token_request::{BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus};
#[cfg(feature = "kubernetes")]
pub use token_review::{TokenReview, TokenReviewSpec, TokenReviewStatus};
#[cfg(feature = "admissionregistration")]
pub use user_info::UserInfo;
