//! `authentication.k8s.io/v1beta1`, which is no longer served.

mod self_subject_review;
mod token_review;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use self_subject_review::SelfSubjectReview;
pub use token_review::TokenReview;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_700, 9);
