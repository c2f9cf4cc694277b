//! `authentication.k8s.io/v1`.

#[cfg(feature = "rbac")]
mod self_subject_review;
mod token_request;
#[cfg(feature = "rbac")]
mod token_review;
#[cfg(any(feature = "admissionregistration", feature = "rbac"))]
mod user_info;

use planesmith_machinery::group_version::GroupVersionPriority;

#[cfg(feature = "rbac")]
pub use self_subject_review::{SelfSubjectReview, SelfSubjectReviewStatus};
pub use token_request::{BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus};
#[cfg(feature = "rbac")]
pub use token_review::{TokenReview, TokenReviewSpec, TokenReviewStatus};
#[cfg(any(feature = "admissionregistration", feature = "rbac"))]
pub use user_info::UserInfo;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_700, 15);
