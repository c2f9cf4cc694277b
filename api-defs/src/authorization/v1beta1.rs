//! `authorization.k8s.io/v1beta1`, which is no longer served.

mod local_subject_access_review;
mod self_subject_access_review;
mod self_subject_rules_review;
mod subject_access_review;

pub use local_subject_access_review::LocalSubjectAccessReview;
pub use self_subject_access_review::SelfSubjectAccessReview;
pub use self_subject_rules_review::SelfSubjectRulesReview;
pub use subject_access_review::{SubjectAccessReview, SubjectAccessReviewSpec};
