//! Roles for one namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use super::PolicyRule;
use crate::rbac::v1;

/// A set of permissions in one namespace.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "rbac.authorization.k8s.io",
    version = "v1alpha1",
    name_rule = whole_path_segment,
    create_on_update,
    storage_version = v1::Role,
    unserved
)]
pub struct Role {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Permissions of the role.
    #[field(proto = 2, keep, optional, list_type = atomic)]
    pub rules: Vec<PolicyRule>,
}
