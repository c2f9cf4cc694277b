//! `authentication.k8s.io/v1beta1`, which is no longer served.

mod self_subject_review;
mod token_review;

pub use self_subject_review::SelfSubjectReview;
pub use token_review::TokenReview;
