//! `authorization.k8s.io/v1`.

mod attributes;
mod local_subject_access_review;
mod self_subject_access_review;
mod self_subject_rules_review;
mod subject_access_review;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use attributes::{FieldSelectorAttributes, LabelSelectorAttributes, NonResourceAttributes, ResourceAttributes};
pub use local_subject_access_review::LocalSubjectAccessReview;
pub use self_subject_access_review::{SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
pub use self_subject_rules_review::{
    NonResourceRule, ResourceRule, SelfSubjectRulesReview, SelfSubjectRulesReviewSpec, SubjectRulesReviewStatus,
};
pub use subject_access_review::{SubjectAccessReview, SubjectAccessReviewSpec, SubjectAccessReviewStatus};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_600, 15);
