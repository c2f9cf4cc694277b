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

pub use cluster_role::{AggregationRule, ClusterRole};
pub use cluster_role_binding::ClusterRoleBinding;
pub use policy_rule::PolicyRule;
pub use role::Role;
pub use role_binding::RoleBinding;
pub use role_ref::RoleRef;
pub use subject::Subject;
#[cfg(feature = "kubernetes")]
pub(in crate::rbac) use subject::{GROUP_OF_USERS, SERVICE_ACCOUNT, USER};

/// API group of roles and bindings.
pub(in crate::rbac) const GROUP: &str = "rbac.authorization.k8s.io";
