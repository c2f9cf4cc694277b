//! `authentication.k8s.io/v1alpha1`, which is no longer served.

mod self_subject_review;

pub use self_subject_review::SelfSubjectReview;
