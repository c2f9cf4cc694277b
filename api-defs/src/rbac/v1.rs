//! `v1`: roles, which define permissions, and bindings, which grant them.

mod binding;
mod cluster_role;
mod cluster_role_binding;
mod policy_rule;
mod role;
mod role_binding;
mod role_ref;
mod subject;
#[cfg(test)]
mod tests;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use cluster_role::{AggregationRule, ClusterRole};
pub use cluster_role_binding::ClusterRoleBinding;
pub use policy_rule::PolicyRule;
pub use role::Role;
pub use role_binding::RoleBinding;
pub use role_ref::RoleRef;
pub use subject::Subject;
#[cfg(feature = "kubernetes")]
pub(in crate::rbac) use subject::{GROUP_OF_USERS, SERVICE_ACCOUNT, USER};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_000, 15);

/// API group of roles and bindings.
pub(in crate::rbac) const GROUP: &str = "rbac.authorization.k8s.io";
