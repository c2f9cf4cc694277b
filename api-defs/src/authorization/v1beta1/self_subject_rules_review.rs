//! Reviews that list the requester's permissions in a namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::authorization::v1::{self, SelfSubjectRulesReviewSpec, SubjectRulesReviewStatus};

/// Lists the permissions of the requester in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1beta1", cluster, create_only, unserved)]
#[resource(storage_version = v1::SelfSubjectRulesReview)]
pub struct SelfSubjectRulesReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The namespace.
    #[field(proto = 2, keep)]
    pub spec: SelfSubjectRulesReviewSpec,
    /// The permissions.
    #[field(proto = 3)]
    pub status: SubjectRulesReviewStatus,
}
