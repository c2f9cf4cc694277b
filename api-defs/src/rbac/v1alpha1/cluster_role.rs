//! Roles for the whole cluster.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use super::PolicyRule;
use crate::rbac::v1;
use crate::rbac::v1::AggregationRule;

/// A set of permissions.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "rbac.authorization.k8s.io",
    version = "v1alpha1",
    cluster,
    name_rule = whole_path_segment,
    create_on_update,
    storage_version = v1::ClusterRole,
    unserved
)]
pub struct ClusterRole {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Permissions of the role.
    #[field(proto = 2, keep, optional, list_type = atomic)]
    pub rules: Vec<PolicyRule>,
    /// Selects other roles whose rules are combined.
    #[field(proto = 3)]
    pub aggregation_rule: Option<AggregationRule>,
}
