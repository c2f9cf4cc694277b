//! `v1alpha1`, which is no longer served.

mod cluster_role;
mod cluster_role_binding;
mod policy_rule;
mod role;
mod role_binding;
mod subject;
#[cfg(test)]
mod tests;

pub use cluster_role::ClusterRole;
pub use cluster_role_binding::ClusterRoleBinding;
pub use policy_rule::PolicyRule;
pub use role::Role;
pub use role_binding::RoleBinding;
pub use subject::Subject;
