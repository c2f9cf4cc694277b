//! Reviews of a user's permission.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use crate::authorization::v1::{self, NonResourceAttributes, ResourceAttributes, SubjectAccessReviewStatus};

/// Checks the permission of a user or group.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "authorization.k8s.io", version = "v1beta1", cluster, create_only, unserved)]
#[resource(storage_version = v1::SubjectAccessReview)]
pub struct SubjectAccessReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The action and the user.
    #[field(proto = 2, keep)]
    pub spec: SubjectAccessReviewSpec,
    /// The decision.
    #[field(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

/// The user and the action to authorize. Exactly one kind of attributes is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SubjectAccessReviewSpec {
    /// An action on a resource.
    #[field(proto = 1)]
    pub resource_attributes: Option<ResourceAttributes>,
    /// An action on a path that is not a resource.
    #[field(proto = 2)]
    pub non_resource_attributes: Option<NonResourceAttributes>,
    /// Name of the user.
    #[field(proto = 3)]
    pub user: String,
    /// Groups of the user.
    #[field(proto = 4, list_type = atomic, moved_to = "spec.groups", go_name = "Groups")]
    pub group: Vec<String>,
    /// Further information about the user.
    #[field(proto = 5, go_type = "map[string]ExtraValue")]
    pub extra: BTreeMap<String, Vec<String>>,
    /// UID of the user.
    #[field(proto = 6)]
    pub uid: String,
}
